import { historyResolutions, type WorkerInfo, type WorkRecord } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const worker: WorkerInfo = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: {} }
const server = sharedServer()
const none = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }

async function setUp(schema: string) {
  const driver = postgresDriver({ connectionString: server.url, schema })
  const clock = fakeClock()
  await driver.open({ clock })
  onTestFinished(() => driver.close())
  const beat = async (queue: string) => {
    const failed = { key: 'a', code: 'E', holder: 'w', failures: 0, lastError: '{}' }
    const failedRuns = [{ ...failed, at: clock.now() }]
    const record: WorkRecord = { ...none, codes: [['E', 1]], failedRuns }
    const request = { holder: 'w', worker, record, limit: 100, failuresExpireMs: 86_400_000 }
    expect(await driver.tick(queue, request)).toMatchObject({ recorded: true })
  }
  return { clock, beat }
}

test('the records of a queue that no worker has used for two days are deleted by those of another', async () => {
  const schema = 'unused_queues'
  const { clock, beat } = await setUp(schema)
  const left = async () => {
    const [result] = await sql(
      server.url,
      `select
      (select string_agg(distinct queue, ',') from ${schema}.workers) as workers,
      (select count(distinct queue_id)::int from ${schema}.history) as histories,
      (select count(distinct queue_id)::int from ${schema}.failed_runs) as runs`,
    )
    return result?.rows[0] as unknown
  }
  for (const queue of ['a', 'b', 'c', 'd']) await beat(queue)
  await clock.step(86_400_000)
  await beat('c')
  await clock.step(86_500_000)
  await beat('b')
  // The next one was used within two days.
  expect(await left()).toEqual({ workers: 'a,b,c,d', histories: 4, runs: 4 })
  await beat('c')
  expect(await left()).toEqual({ workers: 'a,b,c', histories: 3, runs: 3 })
  await beat('c')
  expect(await left()).toEqual({ workers: 'b,c', histories: 2, runs: 2 })
  await beat('c')
  expect(await left()).toEqual({ workers: 'b,c', histories: 2, runs: 2 })
})

test('what is older than a day is deleted by the next record of the queue', async () => {
  const schema = 'old_records'
  const { clock, beat } = await setUp(schema)
  await beat('a')
  await clock.step(86_400_000 + 600_000)
  await beat('a')
  const [result] = await sql(
    server.url,
    `select (select count(*)::int from ${schema}.history) as steps,
      (select count(*)::int from ${schema}.failed_runs) as runs`,
  )
  expect(result?.rows).toEqual([{ steps: historyResolutions.length, runs: 1 }])
})

test('a worker that comes back at that moment stays, and nobody waits for it', async () => {
  const { clock, beat } = await setUp('used_again')
  for (const queue of ['a', 'b']) await beat(queue)
  await clock.step(3 * 86_400_000)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query(
    `update used_again.workers set seen_at = ${clock.now()}, holder = 'back' where queue = 'b'`,
  )
  await beat('a')
  await client.query('commit')
  const { rows } = await client.query('select queue, holder from used_again.workers order by queue')
  expect(rows).toEqual([
    { queue: 'a', holder: 'w' },
    { queue: 'b', holder: 'back' },
  ])
})
