/**
 * Where this package asks the machine, and nobody else in it does: for real time, and for chance.
 */
import { randomInt } from 'node:crypto'
import { type Clock, systemClock } from '@sluice/core'

/** What a driver takes from the machine that it runs on. */
export interface Environment {
  /** Real time, for sockets and retries; the meaning of delays and leases follows the store. */
  readonly clock: Clock
  /** A number in [0, 1). */
  random(): number
}

/** This machine. */
export const thisEnvironment: Environment = {
  clock: systemClock,
  random: () => randomInt(2 ** 32) / 2 ** 32,
}

/** Waits, in real time. The process may end meanwhile. */
export function pause(environment: Environment, ms: number): Promise<void> {
  return new Promise((resolve) => {
    environment.clock.startTimer(ms, resolve).ref()
  })
}
