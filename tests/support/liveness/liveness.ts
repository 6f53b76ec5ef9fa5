import assert from 'node:assert/strict'
import { setTimeout as realTime } from 'node:timers/promises' // real time: the pauses between tries
import { Chance } from '@sluice/conformance'
import { type Driver, SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import type { Held } from 'sluice'
import { QueueUser } from './queue-user.ts'
import { RunBook } from './run-book.ts'
import { noTrouble, type Trouble, troubledDriver } from './troubled-driver.ts'

/** How a liveness run is made. */
export interface LivenessOptions {
  readonly seed: number
  /** How many things are done while the store is in trouble. */
  readonly actions: number
}

/** What a run has to have met to say something. */
export const sightsOfTrouble: readonly string[] = [
  'refused',
  'call lost',
  'answer lost',
  'late call',
  'late answer',
  'a get is aborted',
  'a worker is stopped',
  'a queue is closed',
  'a lease expired',
]

/** Pauses between tries are measured in real time; the clock of the queues stands still meanwhile. */
const realMs = 8

/** After the trouble: as much time of the clock as it may take, and as much real time. */
const calmMs = 180_000
const calmRealMs = 8_000

/** Longer than the longest pause between two tries. */
const pauseMsMax = 2_000

/**
 * Several processes work on one store, which refuses calls, loses them and is late. Then it is well
 * again, and all that was asked for has to happen: every key runs, none stays held, everything that
 * is awaited ends.
 */
export async function liveness(
  create: () => Driver,
  { seed, actions }: LivenessOptions,
): Promise<ReadonlyMap<string, number>> {
  const chance = new Chance(seed)
  const clock = fakeClock()
  const inner = create()
  await inner.open({ clock })
  const book = new RunBook()
  const trouble: Trouble = { ...noTrouble }
  const newUser = (): QueueUser => {
    const own = chance.fork()
    const saw = (sight: string): void => book.saw(sight)
    return new QueueUser(
      troubledDriver(inner, clock, trouble, own, saw),
      clock,
      chance.fork(),
      book,
    )
  }
  const users = [newUser(), newUser(), newUser()]

  for (let action = 0; action < actions; action += 1) {
    if (action % 10 === 0) {
      trouble.refused = chance.pick([0, 0.1, 0.5])
      trouble.lost = chance.pick([0, 0.1, 0.3])
      trouble.late = chance.pick([0, 0.2, 0.5])
      trouble.lateMs = chance.pick([20, 500, 6_000])
    }
    const index = chance.below(users.length)
    users[index]?.act()
    if (chance.happens(0.03)) {
      book.saw('a queue is closed')
      void users[index]?.end()
      users[index] = newUser()
    }
    await clock.step(chance.pick([0, 1, 10, 100, 1_000]))
    await realTime(realMs)
  }

  await giveUp(users, trouble, clock)
  try {
    await calm(inner, users, clock, book)
  } catch (error) {
    const { rows } = await inner.list('orders', { limit: 10 })
    const told = rows
      .filter(({ state }) => state !== 'idle')
      .map(({ key, state, token, leaseUntil, dueAt }) => {
        const inMs = (at: number): string => `in ${Math.round(at - clock.now())} ms`
        const run = book.hasBegun(key, token) ? 'its run has begun' : 'no run has begun'
        return `${key} ${state}, ${run}, lease ends ${inMs(leaseUntil)}, due ${inMs(dueAt)}`
      })
    const lines = [
      `seed ${seed}: ${String(error)}`,
      `not settled: ${book.pending.join(', ') || 'nothing'}`,
      `not run: ${book.missing.join(', ') || 'nothing'}`,
      ...told,
    ]
    throw new Error(lines.join('\n  '), { cause: error })
  }
  await inner.close()
  return book.seen
}

/** The last of the trouble: getters give up, and the keys that come for them cannot be put back. */
async function giveUp(
  users: readonly QueueUser[],
  trouble: Trouble,
  clock: ReturnType<typeof fakeClock>,
): Promise<void> {
  Object.assign(trouble, noTrouble)
  await clock.step(1)
  // What waits for the end of a pause is tried.
  await realTime(pauseMsMax)
  for (const user of users) user.addAll()
  await clock.step(1)
  Object.assign(trouble, { late: 1, lateMs: 200 })
  for (const user of users) user.want()
  await clock.step(200)
  for (const user of users) user.abortGets()
  Object.assign(trouble, { ...noTrouble, refused: 1 })
  await clock.step(200)
  await realTime(realMs)
  Object.assign(trouble, noTrouble)
  // Renewals are made again before a lease has passed: a key that is kept for nothing stays held.
  await realTime(pauseMsMax)
}

async function calm(
  inner: Driver,
  users: readonly QueueUser[],
  clock: ReturnType<typeof fakeClock>,
  book: RunBook,
): Promise<void> {
  const startedAt = clock.monotonicMs()
  const realStartedAt = performance.now()
  /** Lets time pass until something holds, as long as it may take. */
  const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      const isLate =
        clock.monotonicMs() - startedAt > calmMs && performance.now() - realStartedAt > calmRealMs
      assert.ok(!isLate, what)
      await clock.step(200)
      await realTime(1)
    }
  }
  for (const user of users) {
    user.isRough = false
    user.abortGets()
  }
  // One healthy worker is enough, wherever it is.
  users[0]?.work()
  await until('every key that was added has run', () => book.missing.length === 0)
  await until('no key is held or waits', async () => {
    const { processing, dirty, ready, delayed, backoff } = await inner.counts('orders', { cap: 99 })
    return processing + dirty + ready + delayed + backoff === 0
  })
  // What was late has been answered by then, and what was put off has been tried.
  await clock.step(10_000)
  await realTime(pauseMsMax)
  await clock.step(10_000)
  await until('everything that is awaited ends', () => book.pending.length === 0)
  await endsTogether(users, clock, book)
  await until('drains end', () => !book.pending.includes('drain'))
  for (const user of users) void user.end()
  await until('everything that is awaited ends', () => book.pending.length === 0)
  // A user finishes each key that it is handed. One that the library keeps for nothing is renewed
  // until it is collected.
  const dropped = book.errors.filter((error) => SluiceError.is(error, 'ERR_HELD_DROPPED'))
  assert.deepEqual(dropped, [], 'no key is held by nothing')
}

/** More getters than keys: getters without a key end at once with the shutdown. */
async function endsTogether(
  users: readonly QueueUser[],
  clock: ReturnType<typeof fakeClock>,
  book: RunBook,
): Promise<void> {
  void users[0]?.stopWorker()
  await clock.step(1)
  let told = 0
  const waiting = users.slice(1).flatMap((user) => [1, 2, 3, 4].map(() => user.queue.get()))
  // A finish would make the queue look again, so that there is none before all have ended.
  const helds: Held<string>[] = []
  for (const get of waiting) {
    void get.then((held) => {
      told += 1
      if (held !== undefined) helds.push(held)
    })
  }
  await clock.step(1)
  for (const { queue } of users) {
    for (const key of ['last', 'but one', 'but two']) void book.watch('add', queue.add(key))
    void book.watch('drain', queue.shutDownWithDrain())
  }
  await clock.step(100)
  assert.equal(told, waiting.length, 'every get ends with the shutdown')
  for (const held of helds) void book.watch('done', held.done())
}
