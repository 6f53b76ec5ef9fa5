/** What a server loses that stops without warning, the driver has not acknowledged. */
import { allCases, type CreateSubject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { needs } from '@sluice/needs'
import type pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { poolOf, startServer, type TestServer } from '../support/server.ts'
import { subjectsOn } from '../support/subjects.ts'

// A server that is not ours cannot be stopped.
const isOurs = process.env['SLUICE_TEST_POSTGRES_URL'] === undefined

describe.skipIf(!needs('a server of our own', isOurs))('power cuts', () => {
  let server: TestServer
  let pool: pg.Pool
  let create: CreateSubject

  beforeAll(async () => {
    // What is not waited for at commit stays unwritten for as long as the server allows.
    server = await startServer(['-c', 'wal_writer_delay=10000ms'])
    pool = poolOf(server.url)
    create = subjectsOn({
      url: server.url,
      driver: { pool },
      async cutPower() {
        await server.crash()
        await server.start()
      },
    })
  })

  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  examine('postgres', () => create(), {
    cases: allCases.filter((each) => each.needs?.cutPower),
    timeoutMs: 180_000,
  })
})
