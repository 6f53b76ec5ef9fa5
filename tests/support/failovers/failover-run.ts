import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as passes } from 'node:timers/promises' // real time: processes work in between
import { driverAt } from '../stores/driver-at.ts'
import { startFailingServers } from './failing-servers.ts'
import { type FailoverFigures, failoverFigures } from './failover-figures.ts'
import { FailoverProcesses } from './failover-processes.ts'

/** How a run is made. */
export interface FailoverRunOptions {
  readonly kind: 'cluster' | 'sentinel'
  readonly failovers: number
  /** How long the replica stands still before the primary is killed, in milliseconds. */
  readonly stoppedMs: number
  /**
   * `cluster-node-timeout` while a promotion is awaited, or at all times `down-after-milliseconds` of Sentinel.
   */
  readonly timeoutMs: number
  /** How many replicas confirm a write: 0 for mode `server`. */
  readonly replicas: number
  readonly keysPerSecond?: number
  readonly leaseMs?: number
  readonly onProgress?: (text: string) => void
  /** Another queue than Sluice. */
  readonly rival?: Rival
}

/** Another queue on Redis. */
interface Rival {
  /** The file of a program as `programs/failover-process.ts`. */
  readonly program: string
  /** A key of the queue. */
  readonly key: string
  /** How many jobs wait or run. */
  left(url: string): Promise<number>
}

/** What came of a run. */
export interface FailoverRunFigures extends FailoverFigures {
  /**
   * Failovers that the servers made of their own accord, as on a machine that held them up: of two
   * primaries that live, one may number keys again from where it was.
   */
  readonly unaskedFailovers: number
}

/** How long it may take until all keys have run after the last failover, in milliseconds. */
const drainMsMax = 120_000

/** How many adds of each process are acknowledged before each failover. */
const addsBetween = 500

/** Lets processes work while one primary after another is killed, and reads what they wrote down. */
export async function failoverRun(options: FailoverRunOptions): Promise<FailoverRunFigures> {
  const { kind, failovers, stoppedMs, timeoutMs, replicas, rival } = options
  const { keysPerSecond = 3_000, leaseMs = 5_000 } = options
  const folder = mkdtempSync(join(tmpdir(), 'sluice-failovers-'))
  const servers = await startFailingServers({
    kind,
    timeoutMs,
    key: rival?.key ?? 'sluice:{orders}:rows',
  })
  const shared = { url: servers.url, keysPerSecond, leaseMs, replicas }
  const processes = new FailoverProcesses(folder, shared, rival?.program)
  try {
    processes.start(true)
    processes.start(true)
    for (let failover = 1; failover <= failovers; failover += 1) {
      // A process that only adds, which is killed together with the primary.
      processes.start(false)
      await processes.atWork(addsBetween)
      const from = performance.now()
      await servers.failOver(stoppedMs, () => processes.killLast())
      const ms = Math.round(performance.now() - from - stoppedMs)
      options.onProgress?.(`failover ${failover}: another primary after ${ms} ms`)
      await servers.repair()
    }
    await processes.atWork(addsBetween)
    await processes.stopAdding()
    await drained(() => (rival === undefined ? left(servers.url) : rival.left(servers.url)))
    await processes.end()
    if (processes.deaths.length > 0) throw new Error(processes.deaths.join('\n'))
    const unasked = await servers.unaskedFailovers()
    return { ...failoverFigures(processes.records()), unaskedFailovers: unasked }
  } finally {
    processes.abandon()
    await servers.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Waits until nothing is left of the queue. */
async function drained(count: () => Promise<number>): Promise<void> {
  const until = performance.now() + drainMsMax
  for (;;) {
    const left = await count().catch(() => Infinity)
    if (left === 0) return
    if (performance.now() > until) throw new Error(`${left} keys are left`)
    await passes(200)
  }
}

async function left(url: string): Promise<number> {
  const driver = driverAt(url)
  await driver.open({})
  try {
    const counts = await driver.counts('orders', { cap: 1_000 })
    const { ready, delayed, backoff, processing, dirty, parked } = counts
    return ready + delayed + backoff + processing + dirty + parked
  } finally {
    await driver.close()
  }
}

/** What must never be found; everything else is a figure. */
export function failoverProblems(figures: FailoverRunFigures): string[] {
  const { lostAdds, crashes, tokensOutOfOrder, acknowledgedAdds, unaskedFailovers } = figures
  return [
    ...(unaskedFailovers > 0
      ? [`the servers replaced ${unaskedFailovers} primaries that nothing had killed: run it again`]
      : []),
    ...(acknowledgedAdds < 100 ? [`only ${acknowledgedAdds} adds were acknowledged`] : []),
    ...(lostAdds > 0 ? [`${lostAdds} acknowledged adds never ran`] : []),
    ...(crashes > 0 ? [`${crashes} runs had a crash counted`] : []),
    ...(tokensOutOfOrder > 0 ? [`${tokensOutOfOrder} tokens did not rise`] : []),
  ]
}
