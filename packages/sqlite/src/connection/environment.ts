/**
 * Where this package asks the machine, and nobody else in it does: for chance, and for who is
 * running. Both are replaced in tests.
 */
import { randomInt } from 'node:crypto'
import { threadId } from 'node:worker_threads'
import { type Clock, systemClock } from '@sluice/core'

/** What a driver takes from the machine that it runs on. */
export interface Machine {
  /** Real time, for what has to do with files and locks; the meaning of delays follows another. */
  readonly clock: Clock
  /** A number in [0, 1). */
  random(): number
  /** Differs in every process and thread. */
  place(): string
  /** The version of SQLite that is built into this Node. */
  sqliteOfNode(): string
}

/** This machine. */
export const thisMachine: Machine = {
  clock: systemClock,
  random: () => randomInt(2 ** 32) / 2 ** 32,
  // Asked anew each time: after a fork the answer is another.
  place: () => `${process.pid}/${threadId}`,
  sqliteOfNode: () => process.versions['sqlite'] ?? '0',
}
