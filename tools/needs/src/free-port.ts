import { randomInt } from 'node:crypto'
import { createServer, Server } from 'node:net'

/**
 * Below the ephemeral ports, which the system could assign to another program between the moment a
 * port is found free and the moment a slow server listens on it.
 */
const lowest = 15_000
const highest = 30_000

/** Counts up from anywhere, so that no port is handed out twice before a program listens on it. */
let next = randomInt(lowest, highest)

/**
 * Where a process listens on the ports that it was given, for as long as it lives, so that no other process
 * is given them: not before a slow server listens there, nor while that server is stopped. A system without
 * this address relies on two processes rarely counting up from near numbers.
 */
const markAddress = '127.0.0.2'

/** A server that listens there; or why not. */
async function listening(port: number, address: string): Promise<Server | string | undefined> {
  return await new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    server.listen(port, address, () => resolve(server.unref()))
  })
}

async function isFree(port: number): Promise<boolean> {
  const mark = await listening(port, markAddress)
  if (mark === 'EADDRINUSE') return false
  const probe = await listening(port, '127.0.0.1')
  if (probe instanceof Server)
    return await new Promise((resolve) => probe.close(() => resolve(true)))
  if (mark instanceof Server) mark.close()
  return false
}

/**
 * A free port of this machine, for a program that needs its port as an argument.
 *
 * ```ts no-run
 * import { freePort } from '@sluice/needs/free-port'
 *
 * const port = await freePort()
 * console.log(`--port=${port}`)
 * ```
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next
    next = port + 1 === highest ? lowest : port + 1
    if (await isFree(port)) return port
  }
}

/** Starts something on free ports, again if another program took one of them at the same moment. */
export async function onFreePorts<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      if (attempt === 5 || !/in use|bind/i.test(String(error))) throw error
    }
  }
}
