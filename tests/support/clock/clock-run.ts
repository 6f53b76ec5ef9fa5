import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises' // real time: clocks are what is tested
import { fileURLToPath } from 'node:url'
import { monotonicNow, watchHoldUps } from '@sluice/needs/hold-ups'
import { SteppedClock, startWithClock } from '@sluice/needs/stepped-clock'
import { startPostgres } from '@sluice/test-postgres'
import { startRedis } from '@sluice/test-redis'
import pg from 'pg'
import { clockBounds } from './clock-bounds.ts'
import { type Cell, cellsOf, type Told, watchMs } from './clock-cells.ts'

/** Taken before a server is started, which borrows the environment of this process for its clock. */
const environment = { ...process.env }

const program = fileURLToPath(new URL('../programs/clock-worker.ts', import.meta.url))

/** The stores of the matrix, and whose clock is stepped. */
export const clockStores = [
  'memory',
  'sqlite',
  'postgres-server',
  'postgres-client',
  'redis-server',
] as const
export type ClockStore = (typeof clockStores)[number]

/** The steps of the matrix, by their names. */
export const clockSteps: Readonly<Record<string, number>> = {
  '+1 s': 1_000,
  '-1 s': -1_000,
  '+lease': 3_000,
  '-lease': -3_000,
  '+1 h': 3_600_000,
  '-1 h': -3_600_000,
  '+10 y': 315_576_000_000,
  '-10 y': -315_576_000_000,
}

class ClockWorker {
  readonly child: ChildProcess
  readonly told: Told[]
  #onTold: () => void = () => {}

  constructor(name: string, address: string, clock: SteppedClock | undefined, told: Told[]) {
    this.told = told
    const args = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning', program]
    this.child = spawn(process.execPath, [...args, address, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...environment, ...clock?.env },
    })
    // EPIPE where it has ended, which its exit shows.
    this.child.stdin?.on('error', () => {})
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      told.push(JSON.parse(line) as Told)
      this.#onTold()
    })
    this.child.once('exit', () => this.#onTold())
  }

  /** Waits until something was told that is looked for. */
  async until(isFound: (told: readonly Told[]) => boolean): Promise<void> {
    while (!isFound(this.told)) {
      if (this.#hasEnded) throw new Error('a process of the clock matrix has ended')
      await new Promise<void>((resolve) => {
        this.#onTold = resolve
      })
    }
  }

  async obey(order: string): Promise<void> {
    const before = this.told.length
    this.child.stdin?.write(`${order}\n`)
    await this.until((told) =>
      told.slice(before).some(({ what, key }) => what === 'obeyed' && key === order),
    )
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  async kill(): Promise<void> {
    if (this.#hasEnded) return
    const ended = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill('SIGKILL')
    await ended
  }
}

/** The wall clock of the process that told something last. */
function wallOf(told: readonly Told[]): number | undefined {
  return told.findLast(({ wall }) => wall !== undefined)?.wall
}

/** The server of a store. */
interface StoreServer {
  readonly url: string
  /** Its wall clock. */
  wall(): Promise<number>
  dispose(): Promise<void>
}

async function startServer(
  store: ClockStore,
  clock: SteppedClock | undefined,
): Promise<StoreServer | undefined> {
  if (store === 'redis-server') {
    const redis = await startRedis({ ...(clock && { clock }) })
    return {
      url: redis.url,
      async wall() {
        const [seconds, micros] = (await redis.command('TIME')) as string[]
        return Number(seconds) * 1_000 + Number(micros) / 1_000
      },
      dispose: () => redis.dispose(),
    }
  }
  if (!store.startsWith('postgres')) return undefined
  const { url, dispose } = await startWithClock(clock, () => startPostgres())
  return {
    url,
    async wall() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query(
        'select extract(epoch from clock_timestamp()) * 1000 as now',
      )
      await client.end()
      return Number(rows[0]?.now)
    },
    dispose,
  }
}

const runsMax = 12

/**
 * What a step of a clock by so many milliseconds does to each kind of key of a store. A run in which
 * the machine held a process up, and which went wrong, is made again: leases and delays are no longer
 * than what such a machine takes away.
 */
export async function clockRun(store: ClockStore, stepMs: number): Promise<readonly Cell[]> {
  for (let runs = 1; ; runs += 1) {
    const told: Told[] = []
    const unwatch = watchHoldUps(({ from, until }) => {
      told.push({ what: 'held up', key: '', who: 'program', at: until, ms: until - from })
    })
    const saysNothing = (): boolean => runs < runsMax && told.some(({ what }) => what === 'held up')
    try {
      const cells = await runOnce(store, stepMs, told)
      if (clockBounds(store, stepMs, cells).length === 0 || !saysNothing()) return cells
    } catch (error) {
      if (!saysNothing()) throw error
    } finally {
      unwatch()
    }
  }
}

async function runOnce(store: ClockStore, stepMs: number, told: Told[]): Promise<readonly Cell[]> {
  const clock = new SteppedClock()
  const ofServer = store.endsWith('-server')
  const server = await startServer(store, ofServer ? clock : undefined)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'))
  const address = server?.url ?? (store === 'memory' ? 'memory' : join(folder, 'queue.db'))
  const start = (name: string) => new ClockWorker(name, address, ofServer ? undefined : clock, told)
  const workers: ClockWorker[] = []
  try {
    const first = start('first')
    workers.push(first)
    const [dying, waiting] = store === 'memory' ? [first, first] : [start('die'), start('second')]
    workers.push(dying, waiting)
    await dying.obey('die')
    await dying.until((all) => all.some(({ what, key }) => what === 'start' && key === 'dead'))
    await first.obey('hold')
    await first.until((all) => all.some(({ what, key }) => what === 'start' && key === 'alive'))
    await waiting.obey('wait')
    await first.obey('time')
    await waiting.until((all) => all.some(({ what, key }) => what === 'start' && key === 'backoff'))
    await pause(200)
    if (dying !== first) await dying.kill()
    clock.set(stepMs)
    const steppedAt = monotonicNow()
    await pause(500)
    await first.obey('go')
    const wall = ofServer ? await server?.wall() : wallOf(told)
    const offMs = (wall ?? 0) - Date.now()
    // A step that did not happen shows nothing.
    if (Math.abs(offMs - stepMs) > 900) throw new Error(`the clock is off by ${offMs} ms`)
    await pause(watchMs - 500)
    return cellsOf(told, steppedAt)
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()))
    await server?.dispose()
    clock.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}
