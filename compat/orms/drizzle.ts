import { sql } from 'drizzle-orm'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import pg from 'pg'
import postgres from 'postgres'
import type { OpenOrm } from './orm.ts'

const orders = pgTable('orders', { id: integer().primaryKey() })

/** Drizzle on pg. */
export const openDrizzle: OpenOrm = async (url, queue) => {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const db = drizzlePg({ client: pool })
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
    close: () => pool.end(),
  }
}

/** Drizzle on postgres.js. */
export const openDrizzlePostgresJs: OpenOrm = async (url, queue) => {
  const client = postgres(url, { max: 2, onnotice() {} })
  const db = drizzlePostgresJs({ client })
  await db.execute(sql`select 1`)
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
    endsAfterErrors: true,
    outside: () => queue.within(db),
    close: () => client.end(),
  }
}
