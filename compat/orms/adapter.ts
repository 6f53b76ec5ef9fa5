import pg from 'pg'
import type { OpenOrm } from './orm.ts'

/** Any other library: an object with `query`, which sends one statement. */
export const openAdapter: OpenOrm = async (url, queue) => {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  return {
    async transaction(work) {
      const client = await pool.connect()
      await client.query('begin')
      try {
        await work({
          within: queue.within({ query: (text: string) => client.query(text) }),
          async insert(id) {
            await client.query('insert into orders values ($1)', [id])
          },
        })
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
    outside: () => queue.within({ query: (text: string) => pool.query(text) }),
    close: () => pool.end(),
  }
}
