import type { Connection } from '../connection/connection.ts'
import type { Store } from '../connection/store.ts'
import { number } from './columns.ts'

/**
 * From how far away a counter is set at once. Nobody else draws as many between reading and setting
 * it, which would set it back; a smaller gap is filled by drawing.
 */
const leapMin = 1_000_000

/** How many tokens are drawn in one statement to fill a gap. */
const skipMax = 100_000

/** How far beyond what is asked for a place in line is set, against the same. */
const arrivalMargin = 2 ** 20

interface Counters {
  readonly token: number
  readonly arrival: number
}

async function read(store: Store, connection: Connection): Promise<Counters> {
  const [row] = await connection.query(store.statements.transferSequences, [])
  return { token: number(row?.['token'] ?? 0), arrival: number(row?.['arrival'] ?? 0) }
}

/** The greatest token that was ever given out. */
export async function lastToken(store: Store): Promise<number> {
  const [row] = await store.run('transferSequences', [])
  return number(row?.['token'] ?? 0)
}

/** Gives out only greater tokens than this from now on. */
export async function raiseTokens(store: Store, floor: number): Promise<void> {
  await store.transaction(async (connection) => {
    await connection.query(store.statements.transferLock, [])
    for (;;) {
      const missing = floor - (await read(store, connection)).token
      if (missing <= 0) return
      if (missing >= leapMin) await connection.query(store.statements.transferSetToken, [floor])
      else await connection.query(store.statements.transferSkipTokens, [Math.min(missing, skipMax)])
    }
  })
}

/** Gives out only places in line behind this one from now on. */
export async function raiseArrival(store: Store, seq: number): Promise<void> {
  const [row] = await store.run('transferSequences', [])
  if (number(row?.['arrival'] ?? 0) >= seq) return
  await store.transaction(async (connection) => {
    await connection.query(store.statements.transferLock, [])
    if ((await read(store, connection)).arrival >= seq) return
    await connection.query(store.statements.transferSetArrival, [seq + arrivalMargin])
  })
}
