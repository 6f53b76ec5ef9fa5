import type pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { poolOf, startServer, type TestServer } from './server.ts'

/** A server that the tests of a file share. */
export interface SharedServer extends TestServer {
  readonly pool: pg.Pool
}

/**
 * Starts a server and makes a pool before the first test of the file, and stops them after the last.
 * The members of the result are set by then, and not earlier.
 */
export function sharedServer(): SharedServer {
  const shared = {} as SharedServer
  beforeAll(async () => {
    const server = await startServer()
    Object.assign(shared, server, { pool: poolOf(server.url) })
  })
  afterAll(async () => {
    await shared.pool?.end()
    await shared.stop?.()
  })
  return shared
}
