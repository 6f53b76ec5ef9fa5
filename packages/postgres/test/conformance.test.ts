import { examine } from '@sluice/conformance/vitest'
import { afterAll, beforeAll, vi } from 'vitest'
import { startServer, type TestServer } from './server.ts'
import { subjectsOn } from './subjects.ts'

// A server on a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

let server: TestServer

beforeAll(async () => {
  server = await startServer()
}, 60_000)

afterAll(async () => {
  await server.stop()
})

examine('postgres', () => subjectsOn({ url: server.url })())
