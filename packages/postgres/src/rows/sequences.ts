import type { Connection } from '../connection/connection.ts'
import type { Store } from '../connection/store.ts'
import { number } from './columns.ts'

/**
 * The smallest gap that is closed by setting the sequence. Setting it could set it back if other
 * processes drew as many numbers since it was read; a smaller gap is closed by drawing.
 */
const leapMin = 1_000_000

/** How many tokens one statement draws to close a gap. */
const skipMax = 100_000

/** How far beyond the requested position the sequence of arrivals is set, for the same reason. */
const arrivalMargin = 2 ** 20

interface Sequences {
  readonly token: number
  readonly arrival: number
}

async function read(store: Store, connection: Connection): Promise<Sequences> {
  const [row] = await connection.query(store.statements.transferSequences, [])
  return { token: number(row?.['token'] ?? 0), arrival: number(row?.['arrival'] ?? 0) }
}

/** The greatest token that was ever given out. */
export async function lastToken(store: Store): Promise<number> {
  const [row] = await store.run('transferSequences', [])
  return number(row?.['token'] ?? 0)
}

/** From now on only tokens above `floor` are given out. */
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

/** From now on only positions in the order behind `seq` are given out. */
export async function raiseArrival(store: Store, seq: number): Promise<void> {
  const [row] = await store.run('transferSequences', [])
  if (number(row?.['arrival'] ?? 0) >= seq) return
  await store.transaction(async (connection) => {
    await connection.query(store.statements.transferLock, [])
    if ((await read(store, connection)).arrival >= seq) return
    await connection.query(store.statements.transferSetArrival, [seq + arrivalMargin])
  })
}
