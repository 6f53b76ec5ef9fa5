import {
  type BucketRow,
  type Counts,
  type KeyRow,
  keyStateWords,
  type Lease,
  type ListReply,
  type ListRequest,
  type TickReply,
  type TickRequest,
  type WorkerInfo,
  type WorkerRow,
} from '@sluice/core'
import type { Row } from '../connection/client-shapes.ts'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { flag, instant, number, text } from '../rows/columns.ts'
import { storedKey } from '../rows/key-row.ts'
import type { Moment } from '../rows/store-time.ts'

/** How many keys one page looks at, so that a page of a rare state is no endless search. */
const looksMax = 10_000

/** Takes the store's time from a row. */
function hear({ time }: Store, row: Row, moment: Moment): void {
  time.ahead = number(row['ahead'])
  time.heard(number(row['now']), moment)
}

/** The verb tick. */
export async function tick(
  store: Store,
  channel: string,
  queue: string,
  { holder, worker, limit, failuresExpireMs }: TickRequest,
): Promise<TickReply> {
  const moment = store.time.moment()
  const values = [
    queue,
    worker?.holder ?? holder,
    worker?.host ?? null,
    worker?.pid ?? null,
    worker?.concurrency ?? null,
    worker === undefined
      ? null
      : JSON.stringify({ settings: worker.settings, stats: worker.stats }),
    limit,
    failuresExpireMs,
    moment.now,
    moment.least,
  ]
  // So that an idle queue asks one thing: the connection that listens has to show that it is alive.
  const aside = await store.runOverListener('tickOverListener', [...values, channel])
  const rows = aside ?? (await store.run('tick', values))
  const leaseEnds: Lease[] = []
  const reply = { now: 0, nextAt: Infinity, paused: false, swept: 0 }
  for (const row of rows) {
    if (number(row['kind']) === 0) {
      reply.now = number(row['now'])
      hear(store, row, moment)
      reply.nextAt = instant(row['next_at'])
      reply.paused = flag(row['paused'])
      reply.swept = number(row['swept'])
    } else {
      leaseEnds.push({ key: String(row['key']), token: number(row['token']) })
    }
  }
  return { ...reply, leaseEnds }
}

/** Counting is done in 32-bit integers, to twice the cap and one more. */
const capMax = 2 ** 30 - 1

/** The verb counts. */
export async function counts(store: Store, queue: string, cap: number): Promise<Counts> {
  const moment = store.time.moment()
  const asked = [queue, Math.min(cap, capMax), moment.now, moment.least]
  const [row = {}] = await store.run('counts', asked)
  hear(store, row, moment)
  const counted = Object.fromEntries(keyStateWords.map((word) => [word, number(row[word])]))
  return {
    ...(counted as Record<(typeof keyStateWords)[number], number>),
    capped: flag(row['capped']),
    paused: flag(row['paused']),
    oldestReadyAt: instant(row['oldest']),
  }
}

/** The verb list. */
export async function list(
  store: Store,
  queue: string,
  { keys, state, prefix = '', cursor = '', limit }: ListRequest,
): Promise<ListReply> {
  const moment = store.time.moment()
  const rows = await store.run('list', [
    queue,
    keys === undefined ? null : arrayLiteral(keys),
    state === undefined ? null : keyStateWords.indexOf(state),
    prefix,
    cursor,
    limit,
    Math.max(looksMax, limit),
    moment.now,
    moment.least,
  ])
  const found: KeyRow[] = []
  let now = 0
  let next: string | undefined
  for (const row of rows) {
    if (text(row['key']) === undefined) {
      now = number(row['now'])
      hear(store, row, moment)
      next = text(row['next'])
      continue
    }
    const { key, state: keyState, item, holder, lastError } = storedKey(row)
    const word = keyStateWords[number(row['word'])] ?? 'idle'
    if (keys !== undefined && !startsAs(key, prefix)) continue
    found.push({ ...keyState, key, state: word, item, holder, lastError })
  }
  return { now, rows: found, ...(next !== undefined && { cursor: next }) }
}

function startsAs(key: string, prefix: string): boolean {
  return key.startsWith(prefix)
}

/** The names of all queues. */
export async function queues(store: Store): Promise<string[]> {
  return (await store.run('queues', [])).map((row) => String(row['name']))
}

/** The workers of a queue. */
export async function workers(store: Store, queue: string, withinMs: number): Promise<WorkerRow[]> {
  const { now, least } = store.time.moment()
  return (await store.run('workers', [queue, withinMs, now, least])).map((row) => ({
    holder: String(row['holder']),
    host: String(row['host']),
    pid: number(row['pid']),
    concurrency: number(row['concurrency']),
    ...(JSON.parse(String(row['info'])) as Pick<WorkerInfo, 'settings' | 'stats'>),
    startedAt: number(row['started_at']),
    seenAt: number(row['seen_at']),
  }))
}

/** All buckets. */
export async function buckets(store: Store): Promise<BucketRow[]> {
  return (await store.run('buckets', [])).map((row) => ({
    name: String(row['name']),
    perSecond: number(row['per_second']),
    burst: number(row['burst']),
    tokens: number(row['tokens']),
    at: number(row['at']),
  }))
}
