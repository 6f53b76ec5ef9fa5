/** On PGlite: a Postgres in this process, with one connection. */
import { PGlite } from '@electric-sql/pglite'
import type { Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { afterAll, beforeAll } from 'vitest'
import { type PgliteTransaction, postgresDriver } from '../../src/index.ts'

let client: PGlite
let made = 0
const free: string[] = []

beforeAll(async () => {
  client = await PGlite.create()
})

afterAll(async () => {
  await client.close()
})

/** A transaction of PGlite lasts as long as a function; this one, until it is told to end. */
async function begin(): Promise<{
  handle: unknown
  end(how: 'commit' | 'rollback'): Promise<void>
}> {
  return await new Promise((resolve, reject) => {
    let end = (_: 'commit' | 'rollback'): void => {}
    const ended = new Promise<'commit' | 'rollback'>((settle) => {
      end = settle
    })
    const over = client.transaction(async (transaction) => {
      resolve({
        handle: transaction satisfies PgliteTransaction,
        async end(how) {
          end(how)
          await over
        },
      })
      if ((await ended) === 'rollback') await transaction.rollback()
    })
    over.catch(reject)
  })
}

async function create(): Promise<Subject> {
  made += 1
  const schema = free.pop() ?? `s${made}`
  const make = () => postgresDriver({ client, schema, onWarning() {} })
  return {
    driver: make(),
    clock: fakeClock(),
    peer: make,
    async begin() {
      const { handle, end } = await begin()
      return { handle, commit: () => end('commit'), rollback: () => end('rollback') }
    },
    async dispose() {
      // A case that asks for more than PGlite promises opens no driver, and so makes no schema.
      const found = await client.query('select from pg_namespace where nspname = $1', [schema])
      if (found.rows.length === 0) return
      const tables = ['keys', 'queues', 'buckets', 'workers', 'history', 'failed_runs']
      await client.exec(tables.map((table) => `delete from ${schema}.${table}`).join('; '))
      free.push(schema)
    },
  }
}

examine('on PGlite', create, {
  timeoutMs: 180_000,
  chance: { modelRuns: 10, histories: 2 },
  except: { 'key.exact': 'PGlite drops a byte order mark at the start of a text' },
})
