import { createServer } from 'node:net'
import { test } from 'vitest'
import { freePort } from '../src/free-port.ts'

test('a free port is one on which a server can listen', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort))
  for (const port of new Set(ports)) {
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
