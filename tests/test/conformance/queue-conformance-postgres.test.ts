import { queueCases } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { afterAll, beforeAll } from 'vitest'
import { factories } from '../../support/queue-factories.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(async () => {
  await server.stop()
})

examine('through the queue, on Postgres', () => server.create(), {
  cases: queueCases(factories),
  timeoutMs: 180_000,
})
