import postgres from 'postgres'
import type { OpenOrm } from './orm.ts'

export const openPostgresJs: OpenOrm = async (url, queue) => {
  const sql = postgres(url, { max: 2, onnotice() {} })
  return {
    async transaction(work) {
      await sql.begin(async (tx) => {
        await work({
          within: queue.within(tx),
          async insert(id) {
            await tx`insert into orders values (${id})`
          },
        })
      })
    },
    endsAfterErrors: true,
    outside: () => queue.within(sql),
    close: () => sql.end(),
  }
}
