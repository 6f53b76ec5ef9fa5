import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { OpenOrm } from './orm.ts'

interface Database {
  orders: { id: number }
}

export const openKysely: OpenOrm = async (url, queue) => {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  return {
    async transaction(work) {
      await db.transaction().execute(async (trx) => {
        await work({
          within: queue.within(trx),
          async insert(id) {
            await trx.insertInto('orders').values({ id }).execute()
          },
        })
      })
    },
    outside: () => queue.within(db),
    close: () => db.destroy(),
  }
}
