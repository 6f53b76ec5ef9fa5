import {
  CamelCasePlugin,
  Kysely,
  type KyselyPlugin,
  ParseJSONResultsPlugin,
  PostgresDialect,
} from 'kysely'
import pg from 'pg'
import type { OpenOrm } from './orm.ts'

interface Database {
  orders: { id: number }
}

function opens(plugins: KyselyPlugin[]): OpenOrm {
  return async (url, queue) => {
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }), plugins })
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
}

export const openKysely: OpenOrm = opens([])

/** Renames columns, and parses values that look like JSON. */
export const openKyselyWithPlugins: OpenOrm = opens([
  new CamelCasePlugin(),
  new ParseJSONResultsPlugin(),
])
