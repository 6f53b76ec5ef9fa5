import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
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

test.runIf(process.platform === 'linux')(
  'a port that one process was given, and does not use yet, is given to no other one',
  async () => {
    // Two copies of the module count up from the same number, as two processes may.
    const from = await freePort()
    vi.spyOn(crypto, 'randomInt').mockImplementation(() => from + 1)
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })
    const copy = async (): Promise<typeof freePort> => {
      vi.resetModules()
      return (await import('../src/free-port.ts')).freePort
    }
    const [one, other] = [await copy(), await copy()]
    const ports: number[] = []
    for (const next of [one, other, one, other]) ports.push(await next())
    expect(new Set(ports).size).toBe(ports.length)
  },
)
