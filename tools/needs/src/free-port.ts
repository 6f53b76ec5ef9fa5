import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to whoever asks for any: those could be given away between the
 * moment in which one is found free and the one in which a server that takes its time listens there.
 */
const lowest = 15_000
const highest = 30_000

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
 * A port of this machine on which nobody listens, for a program that must be told its port.
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
    const port = randomInt(lowest, highest)
    if (await isFree(port)) return port
  }
}
