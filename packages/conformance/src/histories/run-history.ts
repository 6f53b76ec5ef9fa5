import type { Driver } from '@sluice/core'
import type { Scene } from '../scene/scene.ts'
import { type Faults, faulty } from '../wrappers/faulty.ts'
import { Chance } from './chance.ts'
import { checkHistory } from './checks.ts'
import { Client, type HistoryContext } from './client.ts'
import { History } from './operation.ts'
import { Sometimes } from './sometimes.ts'
import { memoryWitness, type Witness } from './witness.ts'

/** Options of {@link runHistory}. */
export interface HistoryOptions {
  readonly seed: number
  /** The queue of the history, which nothing else uses. */
  readonly queue: string
  readonly clients?: number | undefined
  /** Between two rounds all clients stand still and the clock is stepped. */
  readonly rounds?: number | undefined
  /** How many calls a client makes in a round. */
  readonly calls?: number | undefined
  readonly keys?: number | undefined
  /** The faults between clients and store. */
  readonly faults?: Faults | undefined
  /** Whether clients are killed and the wall clock is set. */
  readonly isRough?: boolean | undefined
  readonly witness?: Witness | undefined
  readonly sometimes?: Sometimes | undefined
}

/** How many rounds a drain may take before it counts as endless. */
const drainRoundsMax = 2_000

/** The step of the clock between two rounds: longer than every lease and delay. */
const drainStepMs = 60_000

/** After this many rounds without a key, the queue is empty. */
const quietRounds = 2

/**
 * Runs several concurrent clients on one store, records their calls and the answers, drains the
 * queue, and throws if no store that keeps its promises can produce this history.
 */
export async function runHistory(
  scenes: readonly Scene[],
  options: HistoryOptions,
): Promise<History> {
  const { seed, queue, clients = 6, rounds = 8, calls = 6, keys = 4, isRough = false } = options
  const { faults = {}, witness = memoryWitness(), sometimes = new Sometimes() } = options
  const chance = new Chance(seed)
  const { clock } = scenes[0] as Scene
  let aheadMs = 0
  /** Reads the store's time, which differs from the clock's once the wall clock was set. */
  const readTime = async (): Promise<void> => {
    aheadMs = (await (scenes[0] as Scene).list({ limit: 1 })).now - clock.now()
  }
  await readTime()
  let areFaultsOn = true
  const context: HistoryContext = {
    queue,
    keys: Array.from({ length: keys }, (_, index) => `key ${index}`),
    history: new History(),
    sometimes,
    witness,
    now: () => clock.now() + aheadMs,
    holders: new Map(),
    ends: [],
  }
  const drivers = scenes.map((scene) =>
    faulty(scene.driver, faults, { chance: chance.fork(), sometimes, isOn: () => areFaultsOn }),
  )
  const stops = await Promise.all(drivers.map((driver) => driver.watch?.(() => {})))
  const team = Array.from({ length: clients }, (_, index) => {
    const driver = drivers[index % drivers.length] as Driver
    return new Client(`client ${index}`, driver, context, chance.fork())
  })
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(team.map((client) => work(client, calls)))
    await clock.step(chance.pick([0, 1, 5, 20, 50]))
    if (isRough) await disturb(team, clock, chance, sometimes)
    await readTime()
    for (const client of team) await client.dropExpired()
  }
  areFaultsOn = false
  await drain(team, clock)
  await Promise.all(stops.map((stop) => stop?.()))
  noteConcurrency(context.history, sometimes)
  checkHistory(context.history)
  return context.history
}

async function work(client: Client, calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) await client.act()
}

async function disturb(
  team: readonly Client[],
  clock: Scene['clock'],
  chance: Chance,
  sometimes: Sometimes,
): Promise<void> {
  if (chance.happens(0.3)) {
    const wasBusy = await chance.pick(team).kill()
    if (wasBusy) sometimes.observe('a client was killed while it held keys')
  }
  if (chance.happens(0.2)) {
    const ms = chance.pick([1_000, 3_600_000])
    const isForward = chance.happens(0.5)
    clock.setTime(clock.now() + (isForward ? ms : -ms))
    sometimes.observe(isForward ? 'the clock was set forward' : 'the clock was set back')
  }
}

/** Empties the queue without faults: that has to be possible from every state. */
async function drain(team: readonly Client[], clock: Scene['clock']): Promise<void> {
  let quiet = 0
  for (let round = 0; round < drainRoundsMax; round += 1) {
    let wasBusy = false
    for (const client of team) await client.dropExpired()
    for (const client of team) wasBusy = (await client.drain()) || wasBusy
    quiet = wasBusy ? 0 : quiet + 1
    if (quiet > quietRounds) return
    if (!wasBusy) await clock.step(drainStepMs)
  }
  throw new Error(`the queue is not empty after ${drainRoundsMax} rounds without faults`)
}

function noteConcurrency({ operations }: History, sometimes: Sometimes): void {
  const isConcurrent = operations.some((one) =>
    operations.some(
      (other) => one.client !== other.client && one.start < other.start && other.start < one.end,
    ),
  )
  if (isConcurrent) sometimes.observe('two clients had calls in flight at the same time')
}
