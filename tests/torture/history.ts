import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Driver, failuresExpireMsDefault, type WorkRecord } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { startPostgres } from '@sluice/test-postgres'
import { createRateLimitingQueue, createWorker, exponential } from 'sluice'
import {
  HistoryOnPostgres,
  HistoryOnSqlite,
  type MeasuredStore,
} from '../support/stores/measured-store.ts'

/** The most of the statements of a worker that the history may be, at 10 runs a second and more. */
const shareMax = 0.02

/**
 * The most bytes of a queue that its history may have. On Postgres a fifth of each page is free for the
 * next versions of the current steps, and most of the failed runs are dead rows.
 */
const bytesMax = { SQLite: 100_000, Postgres: 200_000 } as const

/** How many runs end between two heartbeats, in the order in which they are tried. */
const loads = [10, 100, 1_000]

/** A record that is as large as a record can be. */
function fullRecord(beat: number, now: number): WorkRecord {
  const codes = Array.from({ length: 8 }, (_, index) => `ECODE_NUMBER_${index}_${beat % 3}`)
  return {
    ...{ started: 900, done: 700, failed: 200, added: 1_000, merged: 300, expired: 1 },
    codes: codes.map((code, index) => [code, 30 - index] as const),
    failedRuns: Array.from({ length: 20 }, (_, index) => ({
      at: now,
      key: `default/a-resource-with-a-name-${beat}-${index}`,
      code: codes[index % 8] as string,
      holder: 'a-host-with-a-name:12345:1a2b3c4d',
      failures: index,
      lastError: JSON.stringify({ name: 'Error', message: 'm'.repeat(200) }),
    })),
  }
}

/** How many queues have a history when its size is measured. */
const queues = 10

/** Bytes of the history of a queue after a day of records of the largest size. */
async function bytesOfDay(store: MeasuredStore, clock: FakeClock): Promise<number> {
  const driver = store.connect()
  await driver.open({ clock })
  const before = await store.bytes()
  const holder = 'a-host-with-a-name:12345:1a2b3c4d'
  const worker = { holder, host: 'a-host-with-a-name', pid: 12_345, concurrency: 8, settings: {} }
  // Every step of a day, of the last hour and of the last five minutes gets a record.
  const steps = [...new Array<number>(870).fill(100_000), ...new Array<number>(40).fill(10_000)]
  for (const [beat, ms] of steps.entries()) {
    await clock.step(ms)
    for (let queue = 0; queue < queues; queue += 1) {
      const record = fullRecord(beat, clock.now())
      const options = { limit: 100, failuresExpireMs: failuresExpireMsDefault }
      const reply = await driver.tick(`bytes ${queue}`, { holder, worker, record, ...options })
      assert.equal(reply.recorded, true)
    }
    await store.sweep()
  }
  const bytes = ((await store.bytes()) - before) / queues
  await driver.close()
  return Math.round(bytes)
}

/** The records that a worker sends. */
interface Records {
  begun: number
  /** Resolves once the store has the latest. */
  stored: Promise<unknown>
}

function recordsOf(driver: Driver): Records {
  const { tick } = driver
  const records: Records = { begun: 0, stored: Promise.resolve() }
  const counting: Driver['tick'] = (queue, request) => {
    const reply = tick.call(driver, queue, request)
    if (request.record !== undefined) {
      records.begun += 1
      records.stored = Promise.resolve(reply)
    }
    return reply
  }
  Object.assign(driver, { tick: counting })
  return records
}

/** The share of the history in what a worker does, with `runs` runs between two heartbeats. */
async function shareOf(
  store: MeasuredStore,
  clock: FakeClock,
  runs: number,
): Promise<{ share: number; history: number; all: number }> {
  const driver = store.connect()
  const records = recordsOf(driver)
  const limiter = exponential({ baseMs: 3_600_000, maxMs: 3_600_000 })
  const queue = createRateLimitingQueue<string>({ name: `work ${runs}`, driver, clock, limiter })
  let left = 0
  let done = Promise.withResolvers<void>()
  const worker = createWorker({
    queue,
    concurrency: 16,
    async handler(key) {
      left -= 1
      if (left === 0) done.resolve()
      // One run in ten fails.
      if (key.endsWith('0')) throw Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })
    },
    onError: () => undefined,
  })
  const beat = async (number: number): Promise<void> => {
    left = runs
    done = Promise.withResolvers<void>()
    const keys = Array.from({ length: runs }, (_, index) => `${number}/${index}`)
    for (const key of keys) await queue.add(key)
    await done.promise
    // A worker puts its heartbeats off by a part of their interval.
    const { begun } = records
    while (records.begun === begun) await clock.step(500)
    await records.stored
  }
  await beat(0)
  await beat(1)
  const before = await store.work()
  const beats = Math.max(3, Math.ceil(300 / runs))
  for (let number = 2; number < beats + 2; number += 1) await beat(number)
  const after = await store.work()
  await worker.stop()
  await queue.close()
  const history = after.history - before.history
  const all = after.all - before.all
  return { share: history / all, history: history / beats, all: all / beats }
}

/**
 * What the history of queues costs: on SQLite its share of the statements of a worker, on Postgres,
 * where it adds no statement, its share of the written rows; and its bytes per queue after a day of
 * records of the largest size.
 */
export async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-history-'))
  const postgres = await startPostgres()
  let tooMuch = 0
  try {
    for (const kind of ['SQLite', 'Postgres'] as const) {
      const clock = fakeClock()
      const store =
        kind === 'SQLite'
          ? new HistoryOnSqlite(join(folder, 'store.db'))
          : await HistoryOnPostgres.open(postgres.url)
      for (const runs of loads) {
        const { share, history, all } = await shareOf(store, clock, runs)
        const isHigh = kind === 'SQLite' && share > shareMax && runs >= 100
        if (isHigh) tooMuch += 1
        console.log(
          `${kind}, ${runs / 10} runs a second: ${history.toFixed(1)} of ${all.toFixed(0)} ` +
            `${store.unit} between two heartbeats are the history's, ${(share * 100).toFixed(2)} %` +
            (isHigh ? ' (too much)' : ''),
        )
      }
      if (kind === 'Postgres') {
        console.log('Postgres: no statement more, as a record is an argument of the heartbeat')
      }
      const bytes = await bytesOfDay(store, clock)
      if (bytes > bytesMax[kind]) tooMuch += 1
      console.log(
        `${kind}: ${bytes.toLocaleString('en')} bytes per queue after a day of full records` +
          (bytes > bytesMax[kind] ? ' (too much)' : ''),
      )
      await store.close()
    }
  } finally {
    await postgres.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`)
  assert.equal(tooMuch, 0, 'the history costs more than it may')
}
