/** PGlite and Drizzle on PGlite: the queue works on the same, only connection as the transaction. */
import { PGlite } from '@electric-sql/pglite'
import { postgresDriver } from '@sluice/postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pglite'
import {
  createRateLimitingQueue,
  exponential,
  type RateLimitingQueue,
  type WithinLater,
} from 'sluice'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { oddKeys } from './odd-keys.ts'
import type { OrmTransaction } from './orm.ts'

type Work = (transaction: OrmTransaction) => Promise<void>

interface Library {
  transaction(work: Work): Promise<void>
  /** The verbs where no transaction is open. */
  outside(): WithinLater<string>
}

const orders = pgTable('orders', { id: integer().primaryKey() })

let pglite: PGlite
let queue: RateLimitingQueue<string>

beforeAll(async () => {
  pglite = await PGlite.create()
})

afterAll(async () => {
  await pglite.close()
})

const libraries: Readonly<Record<string, () => Library>> = {
  PGlite: () => ({
    async transaction(work) {
      await pglite.transaction(async (tx) => {
        await work({
          within: queue.within(tx),
          async insert(id) {
            await tx.query('insert into orders values ($1)', [id])
          },
        })
      })
    },
    outside: () => queue.within(pglite),
  }),
  'Drizzle on PGlite': () => {
    const db = drizzle({ client: pglite })
    return {
      async transaction(work) {
        await db.transaction(async (tx) => {
          await work({
            within: queue.within(tx),
            async insert(id) {
              await tx.insert(orders).values({ id })
            },
          })
        })
      },
      outside: () => queue.within(db),
    }
  },
}

describe.each(Object.entries(libraries))('%s', (_, open) => {
  let library: Library

  beforeEach(async () => {
    await pglite.exec('create table orders (id int primary key)')
    queue = createRateLimitingQueue<string>({
      name: 'orders',
      driver: postgresDriver({ client: pglite, schema: 'orm' }),
      limiter: exponential({ baseMs: 60_000, maxMs: 60_000 }),
    })
    await queue.len()
    library = open()
    return async () => {
      await queue.close()
      await pglite.exec('drop table orders; drop schema orm cascade')
    }
  })

  const rows = async (): Promise<number[]> =>
    (await pglite.query<{ id: number }>('select id from orders order by id')).rows.map(
      ({ id }) => id,
    )

  test('a row and its keys are there together, after the commit', async () => {
    const waiting = queue.get()
    await library.transaction(async ({ within, insert }) => {
      await insert(1)
      expect(await within.add('order/1')).toBe('added')
      expect(await within.add('order/1', { priority: 5 })).toBe('moved')
      expect(await within.addMany(['order/2', 'order/1'])).toEqual(['added', 'unchanged'])
      expect(await within.addAfter('order/3', 60_000)).toBe('added')
      await insert(2)
    })
    expect(await rows()).toEqual([1, 2])
    const held = await waiting
    expect(held?.item).toBe('order/1')
    expect(await queue.inspect.counts()).toMatchObject({ ready: 1, delayed: 1, processing: 1 })
    await held?.done()
  })

  test('a rollback leaves neither', async () => {
    const rollsBack = library.transaction(async ({ within, insert }) => {
      await insert(1)
      await within.addMany(['order/1', 'order/2'])
      throw new Error('rolled back')
    })
    await expect(rollsBack).rejects.toThrow('rolled back')
    expect(await rows()).toEqual([])
    expect(await queue.inspect.counts()).toMatchObject({ ready: 0, delayed: 0 })
  })

  test('keys come back as they were, whatever they contain', async () => {
    await library.transaction(async ({ within }) => {
      expect(await within.addMany(oddKeys)).toEqual(oddKeys.map(() => 'added'))
      expect(await within.addMany(oddKeys)).toEqual(oddKeys.map(() => 'unchanged'))
    })
    const held = await queue.getMany(10)
    expect(held.map(({ item }) => item)).toEqual(oddKeys)
    await queue.doneMany(held)
  })

  test('a run ends with what it wrote', async () => {
    await queue.addMany(['order/1', 'order/2'])
    const [first, second] = await queue.getMany(2)
    if (first === undefined || second === undefined) throw new Error('there are two keys')
    await library.transaction(async ({ within, insert }) => {
      await insert(1)
      expect(await within.done(first, { forget: true })).toBe('idle')
      expect(await within.retry(second, new Error("it's ? broken"))).toBe('delayed')
    })
    expect(await queue.inspect.counts()).toMatchObject({ processing: 0, backoff: 1 })
    const { rows: errors } = await pglite.query<{ text: string }>(
      'select last_error as text from orm.keys',
    )
    expect(errors[0]?.text).toContain("it's ? broken")
  })

  test('a lost lease rejects, and the transaction can go on', async () => {
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('there is a key')
    await pglite.exec('update orm.keys set token = token + 1')
    await library.transaction(async ({ within, insert }) => {
      await within.add('order/2')
      await expect(within.done(held)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
      await insert(1)
    })
    expect(await rows()).toEqual([1])
    expect((await queue.inspect.get('order/2'))?.state).toBe('ready')
  })

  test('where no transaction is open, nothing is added', async () => {
    await expect(library.outside().add('order/1')).rejects.toMatchObject({
      code: 'ERR_INVALID_INPUT',
      parameter: 'transaction',
    })
    expect(await queue.len()).toBe(0)
  })
})
