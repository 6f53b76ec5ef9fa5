import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../src/free-port.ts'

test('a free port is one on which a server can listen, and is handed out once', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort))
  expect(new Set(ports).size).toBe(ports.length)
  for (const port of ports) {
    const server = createServer()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
})
