import { batchKeysMax, type Driver, type KeyRow, never } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { createQueue, createRateLimitingQueue, exponential, maxOf, tokenBucket } from 'sluice'
import { expect, onTestFinished } from 'vitest'
import type { StoreKind } from '../stores/store-kind.ts'

/** The name of the queue that {@link fill} fills. */
export const queueName = 'orders'

/** A queue like the one that was filled, on any store. */
export function queueOn(driver: Driver, clock: FakeClock) {
  return createRateLimitingQueue<string>({
    name: queueName,
    driver,
    clock,
    leaseMs: 30_000,
    limiter: maxOf(
      exponential({ baseMs: 1_000, maxMs: 60_000 }),
      tokenBucket({ name: 'shared', perSecond: 1, burst: 5 }),
    ),
  })
}

/** Opens a driver, and keeps it open until the test is over. */
export async function keepOpen(driver: Driver, clock: FakeClock): Promise<void> {
  const queue = createQueue<string>({ name: 'nothing', driver, clock })
  await queue.len()
  onTestFinished(() => queue.close())
}

/** An open store whose time is ahead of its wall clock, since that was set back. */
export async function steppedStore(kind: StoreKind, ahead: number): Promise<[Driver, FakeClock]> {
  const driver = kind.make()
  const clock = fakeClock(1_000_000_000 + ahead)
  await keepOpen(driver, clock)
  clock.setTime(1_000_000_000)
  await driver.counts(queueName, { cap: 1 })
  expect(driver.ahead).toBe(ahead)
  return [driver, clock]
}

/** A row whose instants are later by so much. */
export function shifted(row: Partial<KeyRow>, ms: number): Partial<KeyRow> {
  const instants = ['dueAt', 'laterAt', 'readyAt', 'askedAt', 'failedAt'] as const
  const moved = instants.flatMap((name) => {
    const instant = row[name]
    return instant === undefined ? [] : [[name, instant + ms] as const]
  })
  return { ...row, ...Object.fromEntries(moved) }
}

/** A few more keys than one page has. */
const manyDefault = 1_200

/** Puts keys in every state but held into a queue; gives the greatest token there was. */
export async function fill(driver: Driver, clock: FakeClock, many = manyDefault): Promise<number> {
  const queue = queueOn(driver, clock)
  const { inspect } = queue
  await queue.addMany(['failed', 'idle'])
  const failed = await queue.get()
  await failed?.retry(Object.assign(new Error('no'), { code: 'E1' }))
  const idle = await queue.get()
  await idle?.retry(new Error('gone'))
  await queue.cancel('idle')
  await queue.add('parked')
  await inspect.park('parked')
  await queue.addAfter('later', 60_000, { priority: 4 })
  await queue.add('twice')
  await queue.addAfter('twice', 90_000)
  await queue.add('first', { priority: 9 })
  // In an order that is not that of the keys.
  await queue.addMany(Array.from({ length: many }, (_, at) => `many/${(at * 7_919) % many}`))
  const last = await queue.get()
  const token = last?.token ?? 0
  await last?.release()
  await queue.close()
  return token
}

/** A row without what means nothing in its state, and may therefore be anything. */
function meant(row: KeyRow): Partial<KeyRow> {
  const { key, state, item, lastError, dueAt, laterAt, failures, crashes, failedAt, parked } = row
  const { why, readyAt, seq, priority, askedAt, laterWhy } = row
  return {
    ...{ key, state, item, lastError, dueAt, laterAt, failures, crashes, failedAt, parked },
    ...(dueAt === never ? {} : { why, readyAt, seq, priority, askedAt }),
    ...(laterAt === never ? {} : { laterWhy }),
  }
}

/** Everything that is stored of the queue and means something. */
export async function rowsOf(driver: Driver): Promise<Partial<KeyRow>[]> {
  const rows: Partial<KeyRow>[] = []
  let cursor: string | undefined
  do {
    const page = await driver.list(queueName, { limit: batchKeysMax, cursor })
    rows.push(...page.rows.map(meant))
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}
