import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { WorkerInfo, WorkRecord } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { onTestFinished, test } from 'vitest'
import { sqliteDriver } from '../src/index.ts'
import type { SqliteDatabase } from '../src/library/database.ts'
import { scratchFile } from './scratch.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as new (
  path: string,
) => SqliteDatabase

const worker: WorkerInfo = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: {} }
const none = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }

/** A driver, and a connection that looks into its file. */
async function setUp() {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  const clock = fakeClock()
  await driver.open({ clock })
  const database = new Database(file)
  onTestFinished(async () => {
    database.close()
    await driver.close()
  })
  return { driver, clock, database }
}

test('the records of a queue that no worker has used for two days are deleted by those of another', async () => {
  const { driver, clock, database } = await setUp()
  const beat = async (queue: string) => {
    const failed = { key: 'a', code: 'E', holder: 'w', failures: 0, lastError: '{}' }
    const failedRuns = [{ ...failed, at: clock.now() }]
    const record: WorkRecord = { ...none, codes: [['E', 1]], failedRuns }
    const request = { holder: 'w', worker, record, limit: 100, failuresExpireMs: 86_400_000 }
    await driver.tick(queue, request)
  }
  const left = () =>
    ['workers', 'history', 'failed_runs'].map((table) => {
      const text = `select distinct q.name from sluice_${table} t join sluice_queues q on q.id = t.queue order by 1`
      return (database.prepare(text).all() as { name: string }[]).map(({ name }) => name).join()
    })
  for (const queue of ['a', 'b', 'c', 'd']) await beat(queue)
  await clock.step(86_400_000)
  await beat('c')
  await clock.step(86_500_000)
  await beat('b')
  // The next one was used within two days.
  assert.deepEqual(left(), ['a,b,c,d', 'a,b,c,d', 'a,b,c,d'])
  await beat('c')
  assert.deepEqual(left(), ['a,b,c', 'a,b,c', 'a,b,c'])
  await beat('c')
  assert.deepEqual(left(), ['b,c', 'b,c', 'b,c'])
  await beat('c')
  assert.deepEqual(left(), ['b,c', 'b,c', 'b,c'])
})

test('failed runs are deleted when they are older than a day, also if no run fails any more', async () => {
  const { driver, clock, database } = await setUp()
  const record = async (what: Pick<WorkRecord, 'codes' | 'failedRuns'>) => {
    const request = { holder: 'w', worker, limit: 100, failuresExpireMs: 86_400_000 }
    await driver.tick('q', { ...request, record: { ...none, ...what } })
  }
  const stored = () => database.prepare('select key from sluice_failed_runs').all()
  const failed = { key: 'a', code: 'E', holder: 'w', failures: 0, lastError: '{}' }
  await record({ codes: [['E', 1]], failedRuns: [{ ...failed, at: clock.now() }] })
  await clock.step(86_300_000)
  await record({ codes: [], failedRuns: [] })
  assert.equal(stored().length, 1)
  await clock.step(100_000)
  await record({ codes: [], failedRuns: [] })
  assert.equal(stored().length, 0)
})

test('the steps of a history are deleted when they are not kept any more, each length after its own time', async () => {
  const { driver, clock, database } = await setUp()
  const stored = () =>
    (
      database.prepare('select step_ms from sluice_history order by 1').all() as {
        step_ms: number
      }[]
    )
      .map(({ step_ms }) => step_ms / 1_000)
      .join()
  const record = { ...none, codes: [], failedRuns: [] }
  const request = { holder: 'w', worker, record, limit: 100, failuresExpireMs: 86_400_000 }
  for (const [afterMs, steps] of [
    [0, '10,60,600'],
    [600_000, '10,60,60,600,600'],
    [86_400_000, '10,60,600,600'],
    [86_400_000, '10,60,600,600'],
  ] as const) {
    await clock.step(afterMs)
    await driver.tick('q', request)
    assert.equal(stored(), steps)
  }
})

test('of every thousand new holders one sweeps the old ones that hold nothing', async () => {
  const { driver, database } = await setUp()
  const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
  const request = { limit: 1, claimId: 'c', leaseMs: 60_000 }
  const claimBy = async (holder: number) => {
    const ask = { key: String(holder), item: undefined, priority: 0, delayMs: 0 }
    await driver.add('q', [ask], options)
    const { claims } = await driver.claim('q', { ...request, holder: `holder ${holder}` })
    const [{ key, token } = assert.fail()] = claims
    if (holder !== 1) await driver.finish('q', [{ as: 'done', key, token, forget: false }], options)
  }
  const ids = () =>
    (database.prepare('select id from sluice_holders order by id').all() as { id: number }[]).map(
      ({ id }) => id,
    )
  for (let holder = 1; holder < 2001; holder += 1) await claimBy(holder)
  assert.equal(ids().length, 2000)
  await claimBy(2001)
  assert.deepEqual([ids().length, ...ids().slice(0, 2)], [1001, 1, 1002])
})
