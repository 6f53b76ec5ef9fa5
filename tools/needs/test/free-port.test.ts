import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
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

test('a port stays with the process that it was handed out to, while nothing listens on it, too', async () => {
  const port = await freePort()
  const program = `
    const { reserve } = await import('@sluice/needs/free-port')
    console.log(await reserve(${port}))
    process.exit()`
  const flags = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, '--input-type=module', '--eval', program],
    { cwd: import.meta.dirname },
  )
  expect(stdout.trim()).toBe('false')
})
