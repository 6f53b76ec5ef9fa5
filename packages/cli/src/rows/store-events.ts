import type { EpochMs, WorkerRow } from '@sluice/core'
import type { FailedRunInfo, StoreInspection } from 'sluice'
import type { UnreadQueue } from '../output/printer.ts'
import { type QueueRow, queueRow, readQueues } from './queue-rows.ts'

/** Something that happened in a queue, as far as its store tells. */
export interface StoreEvent {
  readonly at: EpochMs
  readonly queue: string
  readonly event:
    | 'run-failed'
    | 'worker-started'
    | 'worker-stopped'
    | 'worker-gone'
    | 'paused'
    | 'resumed'
    | 'parked'
    | 'state'
  /** The key, for a failed run. */
  readonly key?: string
  /** The code of the error, for a failed run. */
  readonly code?: string
  readonly words: string
}

/** What is noticed of a row when it changes. */
interface Noticed extends Pick<QueueRow, 'paused' | 'severity'> {
  readonly counts: Pick<QueueRow['counts'], 'parked'>
}

/** The state of a queue at the last look. */
interface Look {
  readonly row: Noticed
  readonly workers: ReadonlyMap<string, WorkerRow>
  /** The failed runs that are known already. */
  readonly failed: ReadonlySet<string>
}

/** A queue that no store lists: nothing is pending, and nobody is there. */
const unlisted: Look = {
  row: { paused: false, severity: 'ok', counts: { parked: 0 } },
  workers: new Map(),
  failed: new Set(),
}

function processOf({ host, pid }: WorkerRow): string {
  return `${host}:${pid}`
}

function runOf({ at, key, failures }: FailedRunInfo): string {
  return `${at}\0${key}\0${failures}`
}

function failedRun(queue: string, { at, key, code, failures, error }: FailedRunInfo): StoreEvent {
  const words = `failure ${failures + 1}: ${error.message}`
  return { at, queue, event: 'run-failed', key, code, words }
}

/** The workers that take keys now, and took none at the last look. */
function startsOf(
  queue: string,
  before: Look | undefined,
  list: readonly WorkerRow[],
): StoreEvent[] {
  const events: StoreEvent[] = []
  for (const worker of list) {
    const last = before?.workers.get(worker.holder)
    if (worker.concurrency === 0 || (last?.concurrency ?? 0) > 0) continue
    const words = `${processOf(worker)}, for ${worker.concurrency} keys at a time`
    // Of a queue that was known without a worker, the row is older than the worker.
    const at = last === undefined ? worker.startedAt : worker.seenAt
    events.push({ at, queue, event: 'worker-started', words })
  }
  return events
}

/**
 * Tells what happened in the queues of a store: failed runs and starts of workers have their own
 * times, and everything else is noticed by comparing two looks.
 */
export class StoreEvents {
  readonly #store: StoreInspection
  readonly #queue: string | undefined
  readonly #looks = new Map<string, Look>()
  /** The queues of the last look; undefined before the first. */
  #names: readonly string[] | undefined
  #unread: readonly UnreadQueue[] = []

  constructor(store: StoreInspection, queue: string | undefined) {
    this.#store = store
    this.#queue = queue
  }

  /** The queues that the last call could not read. Their events come when they can be read. */
  get unread(): readonly UnreadQueue[] {
    return this.#unread
  }

  /** The events since the last call; at the first call those on record. Oldest first. */
  async next(): Promise<readonly StoreEvent[]> {
    const names = this.#queue === undefined ? await this.#store.queues() : [this.#queue]
    const events: StoreEvent[] = []
    const looks = new Map<string, Look>()
    // One that is listed no more is read once: perhaps it was resumed, or its last key removed.
    const all = [...new Set([...names, ...(this.#names ?? [])])]
    const { unread } = await readQueues(all, async (name) => {
      const { look, happened } = await this.#nextOf(name)
      looks.set(name, look)
      events.push(...happened)
    })
    // Only now, so that the events before an error are not lost: the next call returns them.
    for (const [name, look] of looks) this.#looks.set(name, look)
    this.#names = names
    this.#unread = unread
    return events.sort((a, b) => a.at - b.at || (a.queue < b.queue ? -1 : 1))
  }

  async #nextOf(queue: string): Promise<{ look: Look; happened: readonly StoreEvent[] }> {
    const inspect = this.#store.queue(queue)
    const { capabilities } = this.#store
    const [row, list, runs, now] = await Promise.all([
      queueRow(this.#store, queue),
      capabilities.workers ? inspect.workers() : [],
      capabilities.history ? inspect.failedRuns() : [],
      this.#store.now(),
    ])
    // One that was listed and could not be read is as on the first look.
    const isNew = this.#names?.includes(queue) === false
    const before = this.#looks.get(queue) ?? (isNew ? unlisted : undefined)
    const workers = new Map(list.map((worker) => [worker.holder, worker]))
    const look: Look = { row, workers, failed: new Set(runs.map(runOf)) }
    const happened = [
      ...runs
        .filter((run) => before?.failed.has(runOf(run)) !== true)
        .map((run) => failedRun(queue, run)),
      ...startsOf(queue, before, list),
      ...(before === undefined
        ? []
        : [...endsOf(queue, before, workers, now), ...changesOf(before.row, row, now)]),
    ]
    return { look, happened }
  }
}

/** The workers that took keys at the last look, and take none now. */
function endsOf(
  queue: string,
  before: Look,
  workers: ReadonlyMap<string, WorkerRow>,
  now: EpochMs,
): StoreEvent[] {
  const events: StoreEvent[] = []
  for (const [holder, worker] of before.workers) {
    const current = workers.get(holder)
    if (worker.concurrency === 0 || (current?.concurrency ?? 0) > 0) continue
    const isStopped = current !== undefined
    const event = isStopped ? 'worker-stopped' : 'worker-gone'
    const words = isStopped ? processOf(worker) : `${processOf(worker)}, without having stopped`
    events.push({ at: isStopped ? current.seenAt : now, queue, event, words })
  }
  return events
}

/** The changes of the state of a queue between two looks. */
function changesOf(before: Noticed, row: QueueRow, at: EpochMs): StoreEvent[] {
  const { queue } = row
  const events: StoreEvent[] = []
  if (before.paused !== row.paused) {
    events.push({ at, queue, event: row.paused ? 'paused' : 'resumed', words: row.reason })
  }
  const parked = row.counts.parked - before.counts.parked
  if (parked > 0) {
    events.push({
      at,
      queue,
      event: 'parked',
      words: `${parked} more, ${row.counts.parked} in all`,
    })
  }
  if (before.severity !== row.severity) {
    const words = `${before.severity} -> ${row.severity}: ${row.reason}`
    events.push({ at, queue, event: 'state', words })
  }
  return events
}
