/** PGlite and Drizzle on PGlite: the queue works on the same, only connection as the transaction. */
import { PGlite } from '@electric-sql/pglite'
import { postgresDriver } from '@sluice/postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pglite'
import { createRateLimitingQueue, exponential, type RateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import type { Orm } from './orm.ts'
import { testTransactions } from './transactions.ts'

type Library = Pick<Orm, 'transaction' | 'outside'>

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

  testTransactions(() => ({
    queue,
    library,
    query: async (text) => (await pglite.query<Record<string, unknown>>(text)).rows,
    isOneConnection: true,
  }))
})
