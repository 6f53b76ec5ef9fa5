import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as passes } from 'node:timers/promises' // real time: faults last
import { Chance } from '@sluice/conformance'
import { type ProxyMode, StoreProxy } from '@sluice/needs/store-proxy'
import { startPostgres } from '@sluice/test-postgres'
import { onDisk, startRedis } from '@sluice/test-redis'
import { canMount, fullDisk, lockedFile, type Trouble } from '../outage/troubles.ts'
import { driverAt } from '../stores/driver-at.ts'
import { checkRecords } from './check-records.ts'
import { canStep, WitnessedProcesses } from './witnessed-processes.ts'

/** How a run is made. */
export interface FaultRunOptions {
  readonly store: 'sqlite' | 'postgres' | 'redis'
  readonly seed: number
  readonly seconds: number
  /** Only these faults. */
  readonly only?: readonly string[] | undefined
}

/** What a run met, and what its records prove to be wrong. */
export interface FaultRunReport {
  readonly met: Readonly<Record<string, number>>
  readonly problems: readonly string[]
}

/** One kind of fault, from its beginning to its end. */
type Fault = (processes: WitnessedProcesses, chance: Chance) => Promise<void>

/** The queue's `timeoutMs` in the processes, and what it may take beyond that. */
const pendingMsMax = 5_000 + 5_000

/** How late the timers of a busy machine may be. */
const overlapMsMax = 400

/** How long it may take until all keys have run once the faults have ended. */
const drainMsMax = 60_000

/**
 * How long the end of the processes may take. It only ends what hangs: that a stop takes its grace and two
 * seconds at most is proved by the tests of the queue, on a clock of their own. Here, code that runs for the
 * first time is read from the disk of a machine on which everything is tested at once, eight seconds long
 * where that disk was slow.
 */
const endMsMax = 60_000

const toProcesses: Readonly<Record<string, Fault>> = {
  kill: (processes, chance) => processes.kill(chance.below(3)),
  pause: (processes, chance) =>
    processes.pause(chance.below(3), () => passes(chance.pick([500, 3_500]))),
}

function clockSteps(): Readonly<Record<string, Fault>> {
  if (!canStep) return {}
  return {
    async 'clock step'(processes, chance) {
      processes.setWallClock(chance.pick([-3_600, -1, 1, 60, 3_600]))
      await passes(3_000)
    },
  }
}

/** Trouble that begins, lasts and ends. */
function lasting(trouble: Trouble): Fault {
  return async (_, chance) => {
    await trouble.begin()
    await passes(chance.pick([300, 2_500]))
    await trouble.end()
  }
}

/** Lets processes work on a store while faults come, and reads what they have written down. */
export async function runWithFaults(options: FaultRunOptions): Promise<FaultRunReport> {
  const { store } = options
  if (store === 'sqlite') {
    const trouble = canMount ? fullDisk() : lockedFile()
    const faults = {
      ...toProcesses,
      ...clockSteps(),
      [trouble.name]: lasting(trouble),
    }
    try {
      return await run(options, trouble.address, trouble.address, faults)
    } finally {
      await trouble.dispose()
    }
  }
  if (store === 'redis') {
    const server = await startRedis({ settings: onDisk })
    const faults: Readonly<Record<string, Fault>> = {
      ...toProcesses,
      async 'server pause'(_, chance) {
        server.pause()
        await passes(chance.pick([300, 3_000]))
        server.resume()
      },
      'server crash': away(
        () => server.kill(),
        () => server.start(),
      ),
    }
    try {
      return await run(options, server.url, server.url, faults)
    } finally {
      await server.dispose()
    }
  }
  const server = await startPostgres()
  const proxy = await StoreProxy.start(server.port)
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const by = (mode: ProxyMode): Fault => {
    return async (_, chance) => {
      await proxy.become(mode)
      await passes(chance.pick([0, 300, 2_500]))
      await proxy.become('pass')
    }
  }
  const faults: Readonly<Record<string, Fault>> = {
    ...toProcesses,
    'cut connections': by('cut'),
    'black hole': by('silent'),
    'half-open connections': by('half-open'),
    'refused connections': by('refuse'),
    'server crash': away(
      () => server.crash(),
      () => server.start(),
    ),
  }
  try {
    return await run(options, url.href, server.url, faults)
  } finally {
    await proxy.stop()
    await server.dispose()
  }
}

/** A server that ends, and starts again half a second later. */
function away(end: () => Promise<void>, start: () => Promise<void>): Fault {
  return async () => {
    await end()
    await passes(500)
    await start()
  }
}

async function run(
  { seed, seconds, only }: FaultRunOptions,
  address: string,
  directly: string,
  faults: Readonly<Record<string, Fault>>,
): Promise<FaultRunReport> {
  const chance = new Chance(seed)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
  const processes = new WitnessedProcesses(folder, address, 3)
  const met: Record<string, number> = {}
  const saw = (what: string, count = 1): void => {
    met[what] = (met[what] ?? 0) + count
  }
  try {
    await processes.atWork()
    const names = Object.keys(faults).filter(
      (name) => only?.some((part) => name.includes(part)) ?? true,
    )
    const until = performance.now() + seconds * 1_000
    // Every fault comes once before chance decides.
    const order = [...names]
    while (performance.now() < until || order.length > 0) {
      const name = order.shift() ?? chance.pick(names)
      await faults[name]?.(processes, chance)
      saw(name)
      await passes(chance.pick([100, 500, 1_500]))
    }
    await processes.stopAdding()
    const problems = await drained(directly)
    const endMs = await processes.end()
    if (endMs > endMsMax) problems.push(`SIGTERM took ${Math.round(endMs)} ms`)
    const records = processes.records()
    for (const { what } of records.flat()) saw(what)
    problems.push(...processes.deaths, ...checkRecords(records, { pendingMsMax, overlapMsMax }))
    return { met, problems }
  } finally {
    processes.abandon()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Waits until nothing is left of the queue. */
async function drained(address: string): Promise<string[]> {
  const driver = driverAt(address)
  await driver.open({})
  try {
    const until = performance.now() + drainMsMax
    for (;;) {
      const counts = await driver.counts('orders', { cap: 1_000 })
      const { ready, delayed, backoff, processing, dirty, parked } = counts
      if (ready + delayed + backoff + processing + dirty + parked === 0) return []
      if (performance.now() > until) {
        return [`${JSON.stringify(counts)} ${drainMsMax / 1_000} s after the last fault`]
      }
      await passes(200)
    }
  } finally {
    await driver.close()
  }
}

/** Holds for runs in which something happened: work, and all that was to be met. */
export function checkMet(met: Readonly<Record<string, number>>): void {
  for (const what of ['sent', 'acknowledged', 'began', 'ended']) {
    assert.ok((met[what] ?? 0) > 5, `${met[what] ?? 0} lines of ${what}`)
  }
  assert.ok((met['sent'] ?? 0) > (met['acknowledged'] ?? 0), 'some adds were not acknowledged')
}
