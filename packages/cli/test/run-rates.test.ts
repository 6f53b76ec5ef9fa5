import { durationBoundsMs, type WorkerRow } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { RunRates } from '../src/rows/run-rates.ts'
import { cli, json, output } from './cli.ts'
import { driverOf, workOn } from './queues.ts'
import { newFile, storeKinds } from './stores.ts'

/** Counts with so many at the bound that holds this many milliseconds. */
function counted(ms: number, times: number): number[] {
  const counts = durationBoundsMs.map(() => 0)
  counts[durationBoundsMs.findIndex((bound) => ms <= bound)] = times
  return counts
}

function worker(seenAt: number, runs: number, failed: number, workMs: number): WorkerRow {
  return {
    holder: 'w',
    host: 'h',
    pid: 1,
    concurrency: 4,
    settings: {},
    startedAt: 0,
    seenAt,
    stats: {
      busy: 2,
      runs,
      failed,
      asked: 0,
      merged: 0,
      wait: counted(100, runs),
      work: counted(workMs, runs),
    },
  }
}

test('at first, a worker counts from its start', () => {
  const rates = new RunRates()
  expect(rates.of('q', [worker(10_000, 50, 5, 3)])).toEqual({
    runsPerSecond: 5,
    failedRatio: 0.1,
    waitP95Ms: 125,
    workP95Ms: 3.9,
    busy: 2,
    slots: 4,
  })
})

test('then, what it has done since it was seen before counts, for a minute back', () => {
  const rates = new RunRates()
  rates.of('q', [worker(10_000, 50, 5, 3)])
  expect(rates.of('q', [worker(20_000, 250, 5, 3)])).toMatchObject({
    runsPerSecond: 20,
    failedRatio: 0,
  })
  // The same heartbeat again says nothing new.
  expect(rates.of('q', [worker(20_000, 250, 5, 3)])).toMatchObject({ runsPerSecond: 20 })
  for (let at = 30_000; at <= 140_000; at += 10_000) rates.of('q', [worker(at, 250, 5, 3)])
  const quiet = rates.of('q', [worker(150_000, 250, 5, 3)])
  expect(quiet).toEqual({ runsPerSecond: 0, busy: 2, slots: 4 })
})

test('a rate goes back to the latest heartbeat that is a minute old', () => {
  const rates = new RunRates()
  for (const [at, runs] of [
    [20_000, 100],
    [40_000, 300],
    [60_000, 300],
  ] as const) {
    rates.of('q', [worker(at, runs, 0, 3)])
  }
  expect(rates.of('q', [worker(80_000, 300, 0, 3)])).toMatchObject({ runsPerSecond: 3.33 })
  expect(rates.of('q', [worker(100_000, 300, 0, 3)])).toMatchObject({ runsPerSecond: 0 })
})

test('a rate does not go back beyond a time that nothing was read in, such as an outage of the store', () => {
  const rates = new RunRates()
  rates.of('q', [worker(10_000, 100, 0, 3)])
  // Nothing ran meanwhile. One heartbeat later there is a rate of what runs now.
  rates.of('q', [worker(610_000, 100, 0, 3)])
  expect(rates.of('q', [worker(620_000, 300, 0, 3)])).toMatchObject({ runsPerSecond: 20 })
  expect(rates.of('q', [worker(630_000, 500, 0, 3)])).toMatchObject({ runsPerSecond: 20 })
})

test('of a worker that is gone nothing is kept, so that it counts from its start if it returns', () => {
  const rates = new RunRates()
  rates.of('q', [worker(10_000, 50, 5, 3)])
  rates.of('other', [])
  expect(rates.of('q', [worker(20_000, 250, 5, 3)])).toMatchObject({ runsPerSecond: 20 })
  expect(rates.of('q', [])).toBeUndefined()
  expect(rates.of('q', [worker(100_000, 300, 5, 3)])).toMatchObject({ runsPerSecond: 3 })
})

test('workers that count nothing have no rates', () => {
  const { stats: _, ...silent } = worker(10_000, 1, 0, 1)
  expect(new RunRates().of('q', [silent])).toBeUndefined()
})

test('beside workers that count, one that counts nothing has slots only', () => {
  const { stats: _, ...silent } = worker(10_000, 1, 0, 1)
  const counting = worker(10_000, 50, 5, 3)
  const rates = new RunRates().of('q', [silent, counting])
  expect(rates).toEqual({
    ...new RunRates().of('q', [counting]),
    slots: silent.concurrency + counting.concurrency,
  })
})

test('the JSON of workers and of top has the members that are promised', async () => {
  const store = newFile()
  await output(['add-after', 'orders', '1h', 'later'], { store })
  await workOn(store, 'orders', () => {})
  const seen = new AbortController()
  await cli(['workers', '-w', '--interval', '100ms'], {
    store,
    closed: seen.signal,
    onOut: () => seen.abort(),
  })
  expect(await json(['workers'], { store })).toEqual({
    workers: [
      {
        queue: 'orders',
        holder: expect.any(String),
        host: expect.any(String),
        pid: process.pid,
        concurrency: 2,
        settings: expect.any(Object),
        startedAt: expect.any(Number),
        seenAt: expect.any(Number),
        stats: expect.objectContaining({ busy: 0, runs: 0, failed: 0 }),
      },
    ],
  })
  const { queues } = await json<{ queues: Record<string, unknown>[] }>(['top'], { store })
  expect(queues[0]).toMatchObject({
    queue: 'orders',
    workers: 1,
    rates: { runsPerSecond: 0, busy: 0, slots: 2 },
  })
})

describe.each(storeKinds())('on $kind', ({ fresh }) => {
  test('a worker without a host, and a run that began after the heartbeat, are shown', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a'], { store })
    const driver = await driverOf(store)
    await driver.open({})
    const { seenAt, startedAt: _, stats, ...info } = worker(0, 7, 2, 1)
    const longest = { key: 'a', startedAt: Number.MAX_SAFE_INTEGER }
    await driver.tick('orders', {
      ...{ holder: 'w', limit: 1, failuresExpireMs: 1_000 },
      worker: { ...info, host: '', stats: { ...stats!, longest } },
    })
    await driver.close()
    const shown = await output(['workers', 'orders', '-o', 'wide', '--no-headers'], { store })
    expect(shown).toMatch(/^orders +w +<none> +1 +2\/4 +7 +2 +\d+s ago +\d+s +a \(0s\) +\{\}\n$/)
  })

  /** Records failed runs of a queue, as its worker sends them; each has its code and its time. */
  async function recordFailures(
    store: string,
    queue: string,
    runs: readonly (readonly [code: string, at: number])[],
  ): Promise<void> {
    const driver = await driverOf(store)
    await driver.open({})
    await driver.add(queue, [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    const codes = new Map<string, number>()
    for (const [code] of runs) codes.set(code, (codes.get(code) ?? 0) + 1)
    const { seenAt: _, startedAt: __, ...info } = worker(0, 4, 4, 1)
    const failed = runs.length
    const { recorded } = await driver.tick(queue, {
      ...{ holder: 'w', limit: 1, failuresExpireMs: 1_000, worker: info },
      record: {
        ...{ started: failed, done: 0, failed, added: 0, merged: 0, expired: 0 },
        codes: [...codes],
        failedRuns: runs.map(([code, at]) => ({
          ...{ key: `${code}/${at}`, code, at, holder: 'w', failures: 0 },
          lastError: '{}',
        })),
      },
    })
    expect(recorded).toBe(true)
    await driver.close()
  }

  test('failures are listed by their number, and of equal ones the latest first', async () => {
    const store = await fresh()
    // Finishes that travel together fail at one time, which would be a tie.
    const now = Date.now()
    await recordFailures(store, 'orders', [
      ['EARLY', now - 4],
      ['OFTEN', now - 3],
      ['OFTEN', now - 2],
      ['LATE', now - 1],
    ])
    const { failures } = await json<{ failures: { code: string }[] }>(['failures'], { store })
    expect(failures.map(({ code }) => code)).toEqual(['OFTEN', 'LATE', 'EARLY'])
  })

  test('the failed runs with a code are listed the newest first, whatever their queues', async () => {
    const store = await fresh()
    const now = Date.now()
    await recordFailures(store, 'bills', [
      ['GONE', now - 4],
      ['GONE', now - 2],
    ])
    await recordFailures(store, 'orders', [
      ['GONE', now - 3],
      ['OTHER', now - 2],
      ['GONE', now - 1],
    ])
    const { runs } = await json<{ runs: { queue: string; at: number }[] }>(
      ['failures', '--code', 'GONE'],
      { store },
    )
    expect(runs.map(({ queue, at }) => [queue, now - at])).toEqual([
      ['orders', 1],
      ['bills', 2],
      ['orders', 3],
      ['bills', 4],
    ])
  })
})
