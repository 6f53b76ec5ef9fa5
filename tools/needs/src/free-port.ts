import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports, which the system could assign to another program while no server listens
 * on the port.
 */
const lowest = 15_000
const highest = 30_000

/** Counts up from anywhere, so that few ports are tried in vain. */
let next = randomInt(lowest, highest)

/**
 * Reserves a port until this process ends; false if another process has, or if a program listens on it.
 * A server may listen on it late, and stop in between: the reservation is the UDP port of that number.
 */
export async function reserve(port: number): Promise<boolean> {
  const reservation = createSocket('udp4').unref()
  return await new Promise((resolve) => {
    const refuse = (): void => {
      reservation.close()
      resolve(false)
    }
    reservation.once('error', refuse)
    reservation.bind(port, '127.0.0.1', () => {
      const probe = createServer()
      probe.once('error', refuse)
      probe.listen(port, '127.0.0.1', () => {
        probe.close(() => resolve(true))
      })
    })
  })
}

/**
 * A free port of this machine, for a program that needs its port as an argument. No other process gets it.
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
    if (await reserve(port)) return port
  }
}

/** Starts something on free ports, again if a program took one of them that reserves none. */
export async function onFreePorts<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      if (attempt === 5 || !/in use|bind/i.test(String(error))) throw error
    }
  }
}
