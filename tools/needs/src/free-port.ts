import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports, which the system could assign to another program between the moment a
 * port is found free and the moment a slow server listens on it.
 */
const lowest = 15_000
const highest = 30_000

/** Counts up from anywhere, so that no port is handed out twice before a program listens on it. */
let next = randomInt(lowest, highest)

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => {
      probe.close(() => resolve(true))
    })
  })
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
