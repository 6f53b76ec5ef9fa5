import { SteppedClock, startWithClock } from '@sluice/needs/stepped-clock'
import { startServer, type TestServer } from './server.ts'

/** A server whose wall clock can be stepped; its monotonic clock goes on. */
export interface SteppedServer extends TestServer {
  /** Sets the server's wall clock this far from the machine's. */
  setOffset(ms: number): void
}

/** Starts a server that reads its clock through libfaketime. */
export async function startSteppedServer(): Promise<SteppedServer> {
  const clock = new SteppedClock()
  const server = await startWithClock(clock, () => startServer())
  return {
    ...server,
    setOffset: (ms) => clock.set(ms),
    async stop() {
      await server.stop()
      clock.remove()
    },
  }
}
