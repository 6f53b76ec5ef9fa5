import { DatabaseSync } from 'node:sqlite'
import { fakeClock } from '@sluice/core/testing'
import { sqliteDriver } from '@sluice/sqlite'
import {
  createRateLimitingQueue,
  createWorker,
  type HandlerContext,
  type QueueOptions,
  SluiceError,
} from 'sluice'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { answersTo } from '../../support/answers.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'

function setUp(options: Partial<QueueOptions<string>> = {}) {
  const database = new DatabaseSync(emptyFile())
  database.exec('create table invoices (number text primary key)')
  const clock = fakeClock()
  const driver = sqliteDriver({ database, durability: 'process' })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver, clock, ...options })
  onTestFinished(async () => {
    const closing = queue.close()
    await clock.step(1_000)
    await closing
    database.close()
  })
  const invoices = () =>
    (database.prepare('select number from invoices').all() as { number: string }[]).map(
      ({ number }) => number,
    )
  /** Runs something in a transaction of the program's own. */
  const transaction = (work: () => unknown) => {
    database.exec('begin immediate')
    try {
      work()
      database.exec('commit')
    } catch (error) {
      database.exec('rollback')
      throw error
    }
  }
  return { clock, database, driver, queue, invoices, transaction }
}

describe('what a run writes, what it asks for next, and its end', () => {
  test('commit together', async () => {
    const { database, queue, invoices, transaction } = setUp()
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    transaction(() => {
      database.exec("insert into invoices values ('1')")
      const within = queue.within(database)
      expect(within.add('mail/1')).toBe('added')
      expect(within.addAfter('reminder/1', 5_000)).toBe('added')
      expect(within.done(held)).toBe('idle')
    })
    expect(invoices()).toEqual(['1'])
    const { keys } = await queue.inspect.list()
    expect(keys.map(({ key, state }) => [key, state])).toEqual([
      ['mail/1', 'ready'],
      ['reminder/1', 'delayed'],
    ])
  })

  test('retry counts a failure, and keeps the delay that the error asks for', async () => {
    const { clock, database, queue, transaction } = setUp()
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    const busy = Object.assign(new Error('busy'), { retryAfterMs: 30_000 })
    transaction(() => expect(queue.within(database).retry(held, busy)).toBe('delayed'))
    expect(await queue.inspect.get('order/1')).toMatchObject({
      state: 'backoff',
      failures: 1,
      dueAt: clock.now() + 30_000,
    })
  })

  test('go together when the transaction is rolled back, and the key is still held', async () => {
    const { database, queue, invoices, transaction } = setUp()
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    const fail = () =>
      transaction(() => {
        database.exec("insert into invoices values ('1')")
        const within = queue.within(database)
        within.add('mail/1')
        within.done(held)
        throw new Error('changed my mind')
      })
    expect(fail).toThrow('changed my mind')
    expect(invoices()).toEqual([])
    const { keys } = await queue.inspect.list()
    expect(keys.map(({ key, state }) => [key, state])).toEqual([['order/1', 'processing']])
    expect(await held.done()).toBe('idle')
  })

  test('commit together, and a lease that is lost later is reported as usual', async () => {
    const { clock, database, queue, transaction } = setUp()
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    const fail = () =>
      transaction(() => {
        queue.within(database).done(held)
        throw new Error('changed my mind')
      })
    const renewals = answersTo('renew')
    expect(fail).toThrow('changed my mind')
    // The renewal that shows that nothing was committed.
    await expect.poll(() => renewals.length).toBeGreaterThan(0)
    // Another process takes the key unnoticed by this one.
    database.exec('update sluice_keys set token = token + 1')
    await clock.step(10_000)
    expect(held.signal.reason).toMatchObject({ code: 'ERR_LEASE_LOST' })
    expect(await held.done()).toBe('lost')
  })

  test('do not commit without the lease', async () => {
    const { database, queue, invoices, transaction } = setUp()
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    // Another process ends the lease, unseen by this one.
    database.exec('update sluice_keys set token = token + 1')
    const write = () =>
      transaction(() => {
        database.exec("insert into invoices values ('1')")
        queue.within(database).done(held)
      })
    expect(write).toThrow(expect.objectContaining({ code: 'ERR_LEASE_LOST' }))
    expect(invoices()).toEqual([])
  })

  test('commit together for many runs, or for none of them', async () => {
    const { database, queue, transaction } = setUp()
    const items = Array.from({ length: 1_100 }, (_, index) => `order/${index}`)
    await queue.addMany(items)
    const helds = [...(await queue.getMany(1_000)), ...(await queue.getMany(100))]
    await queue.add('order/7')
    const within = queue.within(database)
    const lost = expect.objectContaining({ code: 'ERR_LEASE_LOST' })
    const twice = [...helds.slice(0, 2), ...helds.slice(0, 1)]
    expect(() => transaction(() => within.doneMany(twice))).toThrow(lost)
    expect((await queue.inspect.counts()).processing).toBe(1_099)
    transaction(() => {
      const outcomes = within.doneMany(helds, { forget: true })
      expect(outcomes.filter((outcome) => outcome === 'idle')).toHaveLength(1_099)
      expect(outcomes[7]).toBe('ready')
      expect(within.doneMany([])).toEqual([])
    })
    expect(await queue.len()).toBe(1)
    expect(() => transaction(() => within.doneMany(helds))).toThrow(lost)
    expect(() => within.doneMany('order/1' as never)).toThrow('helds must be an array')
    expect(() => within.doneMany(['order/1'] as never)).toThrow('must be a Held')
    // None of them is held any more.
    await (await queue.get())?.done()
    await queue.shutDownWithDrain()
  })

  test('commit together in a worker, whose handler does not lose by ending its key itself', async () => {
    const { database, queue, invoices, transaction } = setUp()
    await queue.addMany(['order/1', 'order/2'])
    const errors: unknown[] = []
    const worker = createWorker({
      queue,
      onError: (error) => errors.push(error),
      handler: (item, { key }: HandlerContext) => {
        if (item.startsWith('mail')) return
        transaction(() => {
          database.exec(`insert into invoices values ('${key}')`)
          queue.within(database).add(`mail for ${key}`)
        })
      },
    })
    await worker.runUntilIdle()
    expect(invoices()).toEqual(['order/1', 'order/2'])
    expect(errors).toEqual([])
    expect((await queue.inspect.list()).keys).toEqual([])
  })
})

test('each of several transactions is seen to have committed, however long after the one before', async () => {
  const { database, queue, transaction } = setUp()
  await queue.addMany(['order/1', 'order/2'])
  for (const held of await queue.getMany(2)) {
    transaction(() => queue.within(database).done(held))
    const phase = () => (held as unknown as { readonly phase: string }).phase
    await expect.poll(phase).toBe('finished')
  }
})

test('a transaction is seen to have committed, though the store was out of reach when it was asked', async () => {
  const error = new SluiceError('ERR_STORE', 'out of reach', { retryable: true })
  const errors: unknown[] = []
  const { database, driver, queue, transaction } = setUp({ onError: (each) => errors.push(each) })
  await queue.add('order/1')
  const held = await queue.get()
  if (held === undefined) throw new Error('the queue has ended')
  vi.spyOn(driver, 'renew').mockRejectedValueOnce(error)
  transaction(() => queue.within(database).done(held))
  const phase = () => (held as unknown as { readonly phase: string }).phase
  await expect.poll(phase).toBe('finished')
  expect(errors).toEqual([error])
})

test('a transaction that adds more than the queue may hold fails as a whole', async () => {
  const { database, queue, invoices, transaction } = setUp({ maxPending: 2 })
  await queue.add('order/1')
  const full = expect.objectContaining({ code: 'ERR_QUEUE_FULL' })
  expect(() =>
    transaction(() => {
      database.exec("insert into invoices values ('1')")
      queue.within(database).addMany(['order/2', 'order/3'])
    }),
  ).toThrow(full)
  expect(invoices()).toEqual([])
  expect(await queue.len()).toBe(1)
})

test('a run is ended in a transaction of the queue object that handed it out, while that is open', async () => {
  const { clock, database, queue, transaction } = setUp({ onError() {} })
  const driver = sqliteDriver({ database, durability: 'process' })
  const other = createRateLimitingQueue<string>({ name: 'orders', driver })
  onTestFinished(() => other.close())
  await other.len()
  await queue.add('order/1')
  const held = await queue.get()
  if (held === undefined) throw new Error('the queue has ended')
  const done = (from: typeof queue) => () => transaction(() => from.within(database).done(held))
  expect(done(other)).toThrow('must be a Held that this queue handed out')
  const within = queue.within(database)
  const closing = queue.close()
  await clock.step(1_000)
  await closing
  expect(() => transaction(() => within.done(held))).toThrow(/no longer held/)
})

test('after a shutdown, a transaction takes delayed adds of held keys only', async () => {
  const { database, queue, transaction } = setUp()
  await queue.add('order/1')
  const held = await queue.get()
  if (held === undefined) throw new Error('the queue has ended')
  await queue.shutDown()
  const refused = expect.objectContaining({ code: 'ERR_SHUT_DOWN' })
  transaction(() => {
    const within = queue.within(database)
    expect(() => within.add('order/1')).toThrow(refused)
    expect(() => within.addAfter('order/2', 5_000)).toThrow(refused)
    expect(within.addAfter('order/1', 5_000)).toBe('added')
    expect(within.done(held)).toBe('delayed')
  })
  expect((await queue.inspect.counts()).delayed).toBe(1)
})

test('a limiter that counts in this process is called with forget in a transaction, too', async () => {
  const database = new DatabaseSync(emptyFile())
  const forgot: string[] = []
  const limiter = {
    when: () => 0,
    numRequeues: () => 0,
    forget: (item: string): void => void forgot.push(item),
  }
  const driver = sqliteDriver({ database, durability: 'process' })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver, limiter })
  await queue.addMany(['a', 'b'])
  const [a, b] = await queue.getMany(2)
  if (a === undefined || b === undefined) throw new Error('the queue has ended')
  database.exec('begin immediate')
  queue.within(database).done(a)
  queue.within(database).done(b, { forget: true })
  database.exec('commit')
  expect(forgot).toEqual(['b'])
  await queue.close()
  database.close()
})

test('an addMany that names a key ten thousand times adds it once', async () => {
  const { queue, database, transaction } = setUp()
  await queue.len()
  const outcomes = new Map<string, number>()
  transaction(() => {
    for (const outcome of queue.within(database).addMany(Array(10_000).fill('order/1'))) {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  })
  expect(Object.fromEntries(outcomes)).toEqual({ added: 1, unchanged: 9_999 })
  expect(await queue.len()).toBe(1)
})

test('an error of addMany says which item is wrong', async () => {
  const database = new DatabaseSync(emptyFile())
  const queue = createRateLimitingQueue<string>({
    name: 'orders',
    driver: sqliteDriver({ database }),
  })
  await queue.len()
  database.exec('begin immediate')
  const within = queue.within(database)
  expect(() => within.addMany(['a', ''])).toThrow(/^items\[1\] must not be empty/)
  expect(() => within.add('')).toThrow(/^item must not be empty/)
  database.exec('rollback')
  await queue.close()
  database.close()
})

test('a first call in a transaction of the one connection is refused, and the next call works', async () => {
  const database = new DatabaseSync(emptyFile())
  const driver = sqliteDriver({ database, exclusive: true })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  database.exec('begin immediate')
  expect(() => queue.within(database)).toThrow(/its store is not open yet/)
  const added = queue.add('a')
  database.exec('rollback')
  expect(await added).toBe('added')
  expect(await queue.len()).toBe(1)
  await queue.close()
  database.close()
})

test('a transaction of a store that cannot be opened fails with an error, and nothing else', async () => {
  const database = new DatabaseSync(emptyFile())
  const driver = sqliteDriver({ file: '/missing/folder/queue.db' })
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  database.exec('begin immediate')
  expect(() => queue.within(database)).toThrow(/its store is not open yet/)
  database.exec('rollback')
  await queue.close()
  expect(() => queue.within(database)).toThrow(/it was closed/)
  database.close()
})

test.each([
  ['nothing', () => undefined],
  ['neither a value nor issues', () => ({})],
  // biome-ignore lint/suspicious/noThenProperty: this is about an object with one.
  ['a promise of another library', () => ({ then: () => undefined })],
])('an add is refused whose schema answers with %s', async (_what, validate) => {
  const standard = { version: 1, vendor: 'test', validate: validate as never } as const
  const { database, queue, transaction } = setUp({ schema: { '~standard': standard } })
  await queue.len()
  transaction(() => {
    expect(() => queue.within(database).add('mail/1')).toThrow('schema must')
  })
  expect(await queue.len()).toBe(0)
})
