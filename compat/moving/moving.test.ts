/** The guides for moving, with the real libraries: their programs compile, and move what waits. */
import { postgresDriver } from '@sluice/postgres'
import { redisDriver } from '@sluice/redis'
import { Queue, Worker } from 'bullmq'
import { Logger, makeWorkerUtils, runOnce } from 'graphile-worker'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { createRateLimitingQueue, type Driver, type KeyInfo } from 'sluice'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { complaintsAbout, type LaidOut, layOutPage } from '../pages/laid-out.ts'
import { startProgram } from '../pages/program.ts'
import { serversOfFile } from '../pages/servers.ts'

const hour = 3_600_000
const servers = serversOfFile()

const pages = ['bullmq', 'pg-boss', 'graphile-worker'] as const
const laidOut = new Map<string, LaidOut>()
for (const name of pages) laidOut.set(name, layOutPage(`docs/guides/moving-from-${name}.md`))
afterAll(() => {
  for (const page of laidOut.values()) page.remove()
})
const pageOf = (name: (typeof pages)[number]): LaidOut => {
  const page = laidOut.get(name)
  if (page === undefined) throw new Error('there is a page')
  return page
}

test.for(pages)('the programs for %s are correct for the compiler', (name) => {
  expect(pageOf(name).files).toEqual(['before.ts', 'after.ts', 'move.ts'])
  expect(complaintsAbout(pageOf(name))).toEqual([])
})

/** Runs the program of the page that moves jobs, to its end. */
async function move(name: (typeof pages)[number]): Promise<string> {
  const program = startProgram(['--conditions=sluice-source', 'move.ts'], {
    cwd: pageOf(name).folder,
    env: { DATABASE_URL: servers.postgres, REDIS_URL: servers.redis },
  })
  onTestFinished(program.kill)
  await program.said(/jobs moved, .*\n/)
  expect(await program.ended).toBe(0)
  return program.output()
}

/** The keys of the queue, by name. */
async function keysOn(driver: Driver): Promise<Map<string, KeyInfo>> {
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  const { keys } = await queue.inspect.list({ limit: 1000 })
  await queue.close()
  return new Map(keys.map((info) => [info.key, info]))
}

/** The ready keys of the queue, in the order in which workers get them. */
async function claimedOn(driver: Driver): Promise<readonly string[]> {
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  const held = await queue.getMany(1_000)
  await queue.doneMany(held)
  await queue.close()
  return held.map(({ key }) => key)
}

/** How many minutes after another instant a key is due. */
const minutesAfter = (since: number, due: KeyInfo | undefined): number =>
  Math.round(((due?.dueAt ?? 0) - since) / 60_000)

test('BullMQ', async () => {
  const connection = { url: servers.redis, maxRetriesPerRequest: null }
  const old = new Queue<{ id: number }>('orders', { connection })
  await old.addBulk(
    Array.from({ length: 1_200 }, (_, id) => ({ name: 'sync', data: { id: id % 600 } })),
  )
  const addedAt = Date.now()
  await old.add('sync', { id: 2_000 }, { delay: hour })
  await old.add('sync', { id: 2_001 }, { priority: 5 })
  await old.add('sync', { id: 2_003 }, { priority: 2 })
  await old.add('sync', { id: 2_004 }, { delay: hour / 6 })
  // More jobs of schedulers than the program reads at a time are due before and after others.
  const schedulers = Array.from({ length: 600 }, (_, at) => `scheduler-${at}`)
  const startDate = Date.now() + hour / 2
  await Promise.all(
    schedulers.map((id) =>
      old.upsertJobScheduler(id, { every: hour, startDate }, { name: 'sync', data: { id: -1 } }),
    ),
  )
  // One that fails waits for its retry, for an hour.
  await old.add(
    'sync',
    { id: 2_002 },
    { attempts: 2, backoff: { type: 'fixed', delay: hour }, lifo: true },
  )
  const worker = new Worker(
    'orders',
    async () => {
      throw new Error('not now')
    },
    { connection, autorun: false },
  )
  const failed = new Promise<void>((resolve) => worker.once('failed', () => resolve()))
  void worker.run()
  await failed
  await old.pause()
  await worker.close()
  const before = await old.getJobCounts()
  const waiting =
    (before['waiting'] ?? 0) +
    (before['paused'] ?? 0) +
    (before['prioritized'] ?? 0) +
    (before['delayed'] ?? 0) -
    schedulers.length

  expect(await move('bullmq')).toContain(`${waiting} jobs moved`)
  const after = await old.getJobCounts('waiting', 'prioritized', 'delayed')
  expect(after).toEqual({ waiting: 0, prioritized: 0, delayed: schedulers.length })
  await old.close()
  const driver = redisDriver({ url: servers.redis })
  const keys = await keysOn(driver)
  expect([keys.size, keys.get('order/2001')?.state, keys.get('order/2002')?.state]).toEqual([
    605,
    'ready',
    'ready',
  ])
  const claimed = await claimedOn(driver)
  expect(claimed.filter((key) => ['order/300', 'order/500'].includes(key))).toEqual([
    'order/300',
    'order/500',
  ])
  expect(claimed.slice(-2)).toEqual(['order/2003', 'order/2001'])
  expect([keys.get('order/2000')?.state, minutesAfter(addedAt, keys.get('order/2000'))]).toEqual([
    'delayed',
    60,
  ])
})

describe('on Postgres', () => {
  let pool: pg.Pool
  beforeEach(async () => {
    pool = new pg.Pool({ connectionString: servers.postgres })
    // It ends before its connections do, and the server after it: one may still be told that the server stops.
    pool.on('error', () => {})
    await pool.query('drop schema if exists sluice cascade')
    return async () => {
      await pool.end()
    }
  })

  test('pg-boss', async () => {
    const boss = new PgBoss({
      connectionString: servers.postgres,
      supervise: false,
      schedule: false,
    })
    await boss.start()
    await boss.createQueue('orders')
    await boss.insert(
      'orders',
      Array.from({ length: 1_200 }, (_, id) => ({ data: { id: id % 600 } })),
    )
    const addedAt = Date.now()
    await boss.send('orders', { id: 2_000 }, { startAfter: 3_600 })
    await boss.send('orders', { id: 2_001 }, { priority: 5_000 })

    expect(await move('pg-boss')).toContain('1202 jobs moved')
    expect(await boss.findJobs('orders', { queued: true })).toEqual([])
    await boss.stop()
    const keys = await keysOn(postgresDriver({ pool }))
    expect([keys.size, keys.get('order/2001')?.priority]).toEqual([602, 1_000])
    expect([keys.get('order/2000')?.state, minutesAfter(addedAt, keys.get('order/2000'))]).toEqual([
      'delayed',
      60,
    ])
  })

  test('graphile-worker', async () => {
    const utils = await makeWorkerUtils({ pgPool: pool })
    await utils.migrate()
    // One that has failed for good stays.
    await utils.addJob('order', { id: 2_001 }, { maxAttempts: 1, jobKey: 'failed' })
    await runOnce({
      pgPool: pool,
      logger: new Logger(() => () => undefined),
      taskList: {
        order: () => {
          throw new Error('failed for good')
        },
      },
    })
    for (let id = 0; id < 40; id += 1) await utils.addJob('order', { id: id % 20 })
    await utils.addJob('order', { id: 2_000 }, { runAt: new Date(Date.now() + hour) })
    await utils.addJob('order', { id: 2_002 }, { priority: 5 })
    await utils.addJob('order', { id: 2_003 }, { priority: -5_000 })
    await utils.addJob('mail', { id: 1 })

    expect(await move('graphile-worker')).toContain('43 jobs moved')
    const { rows } = await pool.query(
      'select task_identifier, key from graphile_worker.jobs order by 1',
    )
    expect(rows).toEqual([
      { task_identifier: 'mail', key: null },
      { task_identifier: 'order', key: 'failed' },
    ])
    await utils.release()
    const keys = await keysOn(postgresDriver({ pool }))
    expect([keys.size, keys.get('order/3')?.state, keys.has('order/2001')]).toEqual([
      23,
      'ready',
      false,
    ])
    expect([3, 2_002, 2_003].map((id) => keys.get(`order/${id}`)?.priority)).toEqual([0, -5, 1_000])
  })
})
