import type { CreateSubject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import type pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { poolOf, startServer, type TestServer } from '../support/server.ts'
import { subjectsOn } from '../support/subjects.ts'

let server: TestServer
let pool: pg.Pool
let create: CreateSubject

beforeAll(async () => {
  server = await startServer()
  pool = poolOf(server.socketUrl)
  create = subjectsOn({ url: server.socketUrl, driver: { pool }, hasProcesses: true })
})

afterAll(async () => {
  await pool.end()
  await server.stop()
})

examine('postgres', () => create(), {
  timeoutMs: 180_000,
  except: {
    'clock.back.later-process': 'a given clock is taken at its word; the time kept is the server’s',
  },
})
