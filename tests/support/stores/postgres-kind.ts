import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import type { StoreKind } from './store-kind.ts'

/**
 * Postgres as one more kind of store, on a server that runs while the tests of the file do. Stores of
 * later tests reuse the schemas of earlier ones.
 */
export function postgresKind(): StoreKind {
  let server: PostgresServer | undefined
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await server?.stop()
  })
  return {
    name: 'postgres',
    make() {
      if (server === undefined) throw new Error('the server is not up yet')
      const { driver, dispose } = server.create()
      onTestFinished(async () => await dispose?.())
      return driver
    },
  }
}
