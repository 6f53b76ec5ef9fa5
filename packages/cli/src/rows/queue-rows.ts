// This folder is the rows that commands print and watch: queues, keys and rates.

import { type EpochMs, nextTurn } from '@sluice/core'
import type { QueueCounts, Severity, StoreInspection, urgencies } from 'sluice'
import type { Context } from '../context.ts'
import { formatAge } from '../duration.ts'
import { shown } from '../output/escape.ts'
import type { Paint } from '../output/paint.ts'
import type { UnreadQueue } from '../output/printer.ts'
import type { Column } from '../output/table.ts'
import { isOfDamage, knownQueue } from '../stores/known-queue.ts'

/** A summary of one queue. Its members are part of the stable JSON output. */
export interface QueueRow {
  readonly queue: string
  /** The state, in the words of the dashboard and the alerts, and the reason. */
  readonly severity: Severity
  readonly urgency: (typeof urgencies)[Severity]
  readonly reason: string
  readonly paused: boolean
  readonly counts: Omit<QueueCounts, 'capped' | 'paused' | 'heldUntil'>
  /** True if counting stopped at the cap. */
  readonly capped: boolean
  /** Since when the oldest ready key has been ready. */
  readonly oldestReadyAt?: EpochMs
  /** The age of the oldest ready key. */
  readonly oldestAgeMs?: number
  /** How many workers are online; absent if the store keeps no list. */
  readonly workers?: number
}

/** How many queues are read at a time. */
const concurrencyMax = 4

/** Reads one queue. */
export async function queueRow(store: StoreInspection, queue: string): Promise<QueueRow> {
  // Help and completion must not load the library.
  const { judgeQueue, urgencies } = await import('sluice')
  const inspect = store.queue(queue)
  const { capabilities } = store
  const [found, workers, history, now] = await Promise.all([
    inspect.counts(),
    capabilities.workers ? inspect.workers() : undefined,
    capabilities.history ? inspect.history() : undefined,
    store.now(),
  ])
  const { paused, capped, oldestReadyAt, heldUntil: _, ...counts } = found
  const judgement = judgeQueue({ now, counts: found, workers, history })
  const { severity, reason } = judgement
  return {
    queue,
    severity,
    urgency: urgencies[severity],
    reason,
    paused,
    counts,
    capped,
    ...(oldestReadyAt === undefined
      ? {}
      : { oldestReadyAt, oldestAgeMs: Math.max(0, now - oldestReadyAt) }),
    ...(workers === undefined ? {} : { workers: judgement.workers }),
  }
}

/**
 * Reads which queues a command is about: the one that the command line names, which must be known once; or
 * else all that there are by then, by name.
 */
export async function queueNames(
  context: Context,
  store: StoreInspection,
): Promise<() => Promise<readonly string[]>> {
  const queue = context.input.queueIfGiven()
  if (queue === undefined) return () => store.queues()
  await knownQueue(context, store, queue)
  return async () => [queue]
}

/** What was read of several queues, in the order of their names. */
export interface QueuesRead<T> {
  readonly read: readonly T[]
  readonly unread: readonly UnreadQueue[]
}

/**
 * Reads several queues; ends early, with those read so far, if `until` is aborted. A damaged queue does not
 * hide the others, and is the error of the whole only if no other one can be read.
 */
export async function readQueues<T>(
  names: readonly string[],
  read: (name: string) => Promise<T>,
  until?: AbortSignal,
): Promise<QueuesRead<T>> {
  const all: T[] = []
  const unread: UnreadQueue[] = []
  for (let from = 0; from < names.length && until?.aborted !== true; from += concurrencyMax) {
    // A SQLite file answers synchronously: Ctrl-C and --timeout would have no effect before the last queue.
    await new Promise<void>(nextTurn)
    const some = names.slice(from, from + concurrencyMax)
    for (const answer of await Promise.all(some.map((name) => readOrDamage(name, read)))) {
      if ('error' in answer) unread.push(answer)
      else all.push(answer.found)
    }
  }
  if (all.length === 0 && unread[0] !== undefined) throw unread[0].error
  return { read: all, unread }
}

async function readOrDamage<T>(
  queue: string,
  read: (name: string) => Promise<T>,
): Promise<{ readonly found: T } | UnreadQueue> {
  try {
    return { found: await read(queue) }
  } catch (error) {
    if (isOfDamage(error)) return { queue, error }
    throw error
  }
}

/** Reads all queues, ordered by name. */
export async function queueRows(store: StoreInspection): Promise<QueuesRead<QueueRow>> {
  return await readQueues(await store.queues(), (name) => queueRow(store, name))
}

/** The state of a queue in one or two words, in the colour of its urgency. */
export function painted({ severity, urgency }: QueueRow, paint: Paint): string {
  if (urgency === 'bad') return paint('red', severity)
  return urgency === 'warn' || urgency === 'calm' ? paint('yellow', severity) : severity
}

/** A count, with a mark if it is capped. */
export function counted(count: number, { capped }: Pick<QueueRow, 'capped'>): string {
  return capped && count >= 10_000 ? `${count}+` : String(count)
}

/** The columns of `queues`. */
export function queueColumns(paint: Paint): readonly Column<QueueRow>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'STATE', text: (row) => painted(row, paint) },
    { title: 'READY', text: (row) => counted(row.counts.ready, row) },
    { title: 'DELAYED', text: (row) => counted(row.counts.delayed, row) },
    { title: 'BACKOFF', text: (row) => counted(row.counts.backoff, row) },
    {
      title: 'PROCESSING',
      text: (row) => counted(row.counts.processing + row.counts.dirty, row),
    },
    { title: 'DIRTY', wide: true, text: (row) => counted(row.counts.dirty, row) },
    { title: 'PARKED', text: (row) => counted(row.counts.parked, row) },
    { title: 'IDLE', wide: true, text: (row) => counted(row.counts.idle, row) },
    {
      title: 'OLDEST',
      text: ({ oldestAgeMs }) => (oldestAgeMs === undefined ? '' : formatAge(oldestAgeMs)),
    },
    { title: 'WORKERS', text: ({ workers }) => (workers === undefined ? '?' : String(workers)) },
  ]
}

/** A row without its age, which changes constantly. */
export function withoutAge({ oldestAgeMs: _, ...row }: QueueRow): Omit<QueueRow, 'oldestAgeMs'> {
  return row
}

const byUrgency: readonly QueueRow['urgency'][] = ['good', 'calm', 'warn', 'bad']

/** How urgent the state of a queue is, as a number. */
export function urgencyOf({ urgency }: QueueRow): number {
  return byUrgency.indexOf(urgency)
}
