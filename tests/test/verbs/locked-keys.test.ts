import { SluiceError } from '@sluice/core'
import { postgresDriver } from '@sluice/postgres'
import pg from 'pg'
import { createRateLimitingQueue, exponential, type Inspect } from 'sluice'
import { exportQueue, importQueue } from 'sluice/transfer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(async () => {
  await server.stop()
})

/** A queue with a failed key that is held and one that waits, both locked by a session until it is rolled back. */
async function setUp(schema: string) {
  const limiter = exponential({ baseMs: 60_000, maxMs: 60_000 })
  const driver = postgresDriver({ connectionString: server.url, schema, onWarning() {} })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver, limiter })
  await queue.add('held')
  const held = await queue.get()
  await queue.addRateLimited('held')
  await queue.addRateLimited('waiting')
  await queue.inspect.park('other')
  const session = new pg.Client({ connectionString: server.url })
  await session.connect()
  await session.query('begin')
  await session.query(`select from ${schema}.keys for update`)
  return {
    driver,
    queue,
    inspect: queue.inspect,
    unlock: () => session.query('rollback'),
    /** The driver's own answer comes after 50 ms: by then the call before it has met the lock, too. */
    async metLock() {
      const answer = Promise.resolve(driver.operate?.remove('orders', ['held', 'waiting']))
      await expect(answer).rejects.toSatisfy((error) => SluiceError.is(error, 'ERR_STORE_BUSY'))
    },
    async [Symbol.asyncDispose]() {
      await session.end()
      await held?.release()
      await queue.close()
    },
  }
}

const verbs: Readonly<Record<string, [(inspect: Inspect) => Promise<unknown>, unknown]>> = {
  park: [(inspect) => inspect.park('waiting'), 'changed'],
  runNow: [(inspect) => inspect.runNow('waiting'), 'changed'],
  remove: [(inspect) => inspect.remove('waiting'), 'changed'],
  release: [(inspect) => inspect.release('held'), 'changed'],
  forget: [(inspect) => inspect.forget('waiting'), 'forgotten'],
  purge: [(inspect) => inspect.purge(), 2],
  forget_all: [(inspect) => inspect.select({}).forget(), { count: 2, changed: 2 }],
  park_all: [(inspect) => inspect.select({}).park(), { count: 2, changed: 2 }],
}

test.each(Object.entries(verbs))(
  '%s waits for a key that another session has locked',
  async (verb, [call, outcome]) => {
    await using queue = await setUp(`locked_${verb.toLowerCase()}`)
    const answer = call(queue.inspect)
    answer.catch(() => {})
    for (const _ of [1, 2]) await queue.metLock()
    await queue.unlock()
    if (typeof outcome === 'object') expect(await answer).toMatchObject(outcome as object)
    else expect(await answer).toBe(outcome)
  },
)

test('an import waits for a key that another session has locked', async () => {
  await using locked = await setUp('locked_import')
  const lines: string[] = []
  for await (const line of exportQueue(locked.queue)) lines.push(line)
  const answer = importQueue(locked.queue, lines)
  answer.catch(() => {})
  for (const _ of [1, 2]) await locked.metLock()
  await locked.unlock()
  expect(await answer).toMatchObject({ imported: 0 })
})

test('a key that stays locked is busy before timeoutMs has passed', async () => {
  await using locked = await setUp('locked_long')
  // Of a queue of its own: a busy machine takes longer to open the store.
  const { driver } = locked
  await using queue = createRateLimitingQueue({ name: 'orders', driver, timeoutMs: 1_000 })
  for (const verb of ['park', 'forget'] as const) {
    const refusal = async (): Promise<unknown> =>
      await queue.inspect[verb]('waiting').catch((error: unknown) => error)
    // The outcome is unknown if a busy machine holds up the last try until timeoutMs.
    await expect.poll(refusal).toMatchObject({ code: 'ERR_STORE_BUSY' })
  }
})
