import type { Clock } from '../time/clock.ts'
import { systemClock } from '../time/system-clock.ts'

/** The machine that a driver runs on, as far as it uses it. Tests pass another one. */
export interface Environment {
  /** Real time, for sockets, files and locks. Delays and leases follow the store's time instead. */
  readonly clock: Clock
  /** A random number from 0 to below 1. */
  random(): number
}

/** The machine that the process runs on. */
export const systemEnvironment: Environment = {
  clock: systemClock,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32,
}
