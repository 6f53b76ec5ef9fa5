import knex from 'knex'
import type { OpenOrm } from './orm.ts'

export const openKnex: OpenOrm = async (url, queue) => {
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 2 } })
  return {
    async transaction(work) {
      await db.transaction(async (trx) => {
        await work({
          within: queue.within(trx),
          async insert(id) {
            await trx('orders').insert({ id })
          },
        })
      })
    },
    outside: () => queue.within(db),
    close: () => db.destroy(),
  }
}
