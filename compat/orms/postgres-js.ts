import postgres from 'postgres'
import type { OpenOrm } from './orm.ts'

function opens(options: { readonly transform?: typeof postgres.camel }): OpenOrm {
  return async (url, queue) => {
    const sql = postgres(url, { ...options, max: 2, onnotice() {} })
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
}

export const openPostgresJs: OpenOrm = opens({})

/** Renames columns. */
export const openPostgresJsInCamelCase: OpenOrm = opens({ transform: postgres.camel })
