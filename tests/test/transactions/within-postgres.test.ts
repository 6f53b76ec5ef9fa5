import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { postgresDriver } from '@sluice/postgres'
import pg from 'pg'
import { createRateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { answersTo } from '../../support/answers.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(async () => {
  await server.stop()
})

/** A pool, and a client of it on which a transaction was begun. */
async function beginOn(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  // A pool has ended before the server has ended its connections, and the server may stop in between.
  pool.on('error', () => {})
  const client = await pool.connect()
  await client.query('begin')
  onTestFinished(async () => {
    client.release(true)
    await pool.end()
  })
  return { pool, client }
}

/** Runs a program in a process of its own, which sees the packages of this workspace. */
async function run(code: string): Promise<string> {
  // Packages are resolved from the working directory, so that the program needs no file.
  const cwd = new URL('../..', import.meta.url)
  const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
  const program = ['--input-type=module-typescript', '--eval', code]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...program], { cwd })
  return stdout
}

describe('the first call of a queue', () => {
  test('may be an add in a transaction, which opens the store', async () => {
    const { pool, client } = await beginOn(server.url)
    const driver = postgresDriver({ pool, schema: 'within_first' })
    const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
    onTestFinished(() => queue.close())
    const within = queue.within(client)
    expect(await within.addMany(['order/1', 'order/2'])).toEqual(['added', 'added'])
    expect(await queue.len()).toBe(0)
    await client.query('commit')
    expect(await queue.len()).toBe(2)
  })

  test('goes with the transaction that is rolled back', async () => {
    const { pool, client } = await beginOn(server.url)
    const driver = postgresDriver({ pool, schema: 'within_rolled_back' })
    const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
    onTestFinished(() => queue.close())
    expect(await queue.within(client).addAfter('order/1', 1_000)).toBe('added')
    await client.query('rollback')
    expect((await queue.inspect.counts()).delayed).toBe(0)
  })

  test('ends a run together with what the run wrote', async () => {
    const { pool, client } = await beginOn(server.url)
    const driver = postgresDriver({ pool, schema: 'within_done' })
    const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
    onTestFinished(() => queue.close())
    await queue.within(client).add('order/1')
    await client.query('commit')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    await client.query('begin')
    expect(await queue.within(client).done(held, { forget: true })).toBe('idle')
    await client.query('commit')
    await expect.poll(() => queue.inspect.get('order/1')).toBeUndefined()
  })
})

test('many runs end in a transaction by a few statements, or none of them', async () => {
  const { pool, client } = await beginOn(server.url)
  const driver = postgresDriver({ pool, schema: 'within_many' })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  onTestFinished(() => queue.close())
  await queue.addMany(Array.from({ length: 1_100 }, (_, index) => `order/${index}`))
  const helds = [...(await queue.getMany(1_000)), ...(await queue.getMany(100))]
  const query = vi.spyOn(client, 'query')
  const within = queue.within(client)
  const lost = { code: 'ERR_LEASE_LOST' }
  expect(await within.doneMany(helds)).toEqual(helds.map(() => 'idle'))
  expect(query.mock.calls.length).toBeLessThan(20)
  await expect(within.doneMany(helds)).rejects.toMatchObject(lost)
  expect((await queue.inspect.counts()).processing).toBe(1_100)
  await client.query('commit')
  expect((await queue.inspect.counts()).processing).toBe(0)
})

describe.each(['repeatable read', 'serializable'])('%s, for longer than a lease', (isolation) => {
  async function begun(schema: string) {
    const { pool, client } = await beginOn(server.url)
    await client.query('rollback')
    const clock = fakeClock()
    const driver = postgresDriver({ pool, schema: schema + isolation.slice(0, 1) })
    const queue = createRateLimitingQueue<string>({ name: 'orders', driver, clock })
    onTestFinished(async () => {
      const closing = queue.close()
      await clock.step(1_000)
      await closing
    })
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    const renewals = answersTo('renew')
    await client.query(`begin isolation level ${isolation}`)
    // First of all, so that the row is locked before it is renewed again.
    await queue.within(client).done(held)
    for (let seconds = 0; seconds < 60; seconds += 5) {
      const before = renewals.length
      await clock.step(5_000)
      if (seconds % 10 === 5) await expect.poll(() => renewals.length).toBeGreaterThan(before)
    }
    return { client, queue, held }
  }

  test('a run that is ended first commits', async () => {
    const { client, queue, held } = await begun('within_long')
    await client.query('commit')
    await expect.poll(() => queue.inspect.get('order/1')).toBeUndefined()
    await expect.poll(() => queue.done(held)).toBe('lost')
    expect(held.signal.aborted).toBe(false)
  })

  test('one that is rolled back is held as before', async () => {
    const { client, queue, held } = await begun('within_undone')
    await client.query('rollback')
    expect(held.signal.aborted).toBe(false)
    expect(await held.done()).toBe('idle')
    expect(await queue.inspect.get('order/1')).toBeUndefined()
  })
})

test('a store that cannot be opened fails the call, and nothing else', async () => {
  // In a process of its own: a rejection that nothing handles would end it.
  const output = await run(`
    import pg from 'pg'
    import { postgresDriver } from '@sluice/postgres'
    import { createRateLimitingQueue } from 'sluice'
    const pool = new pg.Pool({ connectionString: ${JSON.stringify(server.url)} })
    const driver = postgresDriver({ pool, schema: 'within_missing', migrate: 'verify' })
    const queue = createRateLimitingQueue({ name: 'orders', driver })
    const client = await pool.connect()
    await client.query('begin')
    const within = queue.within(client)
    for (let times = 0; times < 2; times += 1) {
      await within.add('order/1').catch((error) => console.log(error.code))
    }
    await client.query('rollback')
    client.release()
    await queue.close()
    await pool.end()
    console.log('ended')
  `)
  expect(output.trim().split('\n')).toEqual(['ERR_SCHEMA_OLDER', 'ERR_SCHEMA_OLDER', 'ended'])
})

test('after a shutdown, a transaction takes delayed adds of held keys only', async () => {
  const { pool, client } = await beginOn(server.url)
  const driver = postgresDriver({ pool, schema: 'within_shut_down' })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  onTestFinished(() => queue.close())
  await queue.add('order/1')
  const held = await queue.get()
  if (held === undefined) throw new Error('the queue has ended')
  await queue.shutDown()
  const within = queue.within(client)
  await expect(within.addAfter('order/2', 5_000)).rejects.toMatchObject({ code: 'ERR_SHUT_DOWN' })
  expect(await within.addAfter('order/1', 5_000)).toBe('added')
  expect(await within.done(held)).toBe('delayed')
  await client.query('commit')
  expect((await queue.inspect.counts()).delayed).toBe(1)
})

test('a queue that is closed takes no adds in a transaction', async () => {
  const { pool, client } = await beginOn(server.url)
  const driver = postgresDriver({ pool, schema: 'within_closed' })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  const within = queue.within(client)
  await queue.close()
  const error = await within.add('order/1').catch((reason: unknown) => reason)
  expect(SluiceError.is(error, 'ERR_CLOSED')).toBe(true)
})

test('the example in the guide to transactions does what it says', async () => {
  const guide = new URL('../../../docs/guides/transactions.md', import.meta.url)
  const fences = [...readFileSync(guide, 'utf8').matchAll(/```ts no-run\n(.*?)```/gs)]
  const [[, example] = []] = fences.filter(([text]) => text.includes('postgresDriver'))
  const output = await run(`
    import pg from 'pg'
    const pool = new pg.Pool({ connectionString: ${JSON.stringify(server.url)} })
    await pool.query('create table orders (id integer primary key)')
    ${example}
    console.log(await queue.len(), (await pool.query('table orders')).rows)
    await queue.close()
    await pool.end()
  `)
  expect(output.trim()).toBe('1 [ { id: 42 } ]')
})
