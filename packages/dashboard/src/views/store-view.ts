// This folder reads the store and computes what the page shows of it.

import { nextTurn } from '@sluice/core'
import {
  type HistoryRange,
  judgeQueue,
  type QueueCounts,
  type QueueHistory,
  SluiceError,
  type StoreInspection,
  severities,
  type WorkerRow,
} from 'sluice'
import { refusalOf } from '../http/http-error.ts'
import type { Chart, Overview, QueueRow, UnreadQueues } from '../wire.ts'
import { chartOf, depthsOf, sumOf } from './chart-steps.ts'
import { type Durations, RunDurations } from './durations/run-durations.ts'

/** The maximum number of queues in the overview. */
const queuesMax = 1_000

/** The cap up to which keys of a state are counted for the overview. */
export const overviewCap = 10_000

/** How many queues are read concurrently. */
const concurrency = 4

/** How many queues are read before the event loop gets a turn: a store in this process may answer without one. */
const queuesPerTurn = 8

/** How long a history is shown before it is read again, in milliseconds: steps are 10 s long. */
const historyForMs = 4_000

/** For how long durations of a queue are kept that is not shown, in milliseconds. */
const keepMs = 300_000

/** One queue as it was read at one moment. */
export interface QueueSnapshot {
  readonly queue: string
  readonly counts: QueueCounts
  readonly workers: readonly WorkerRow[]
  /** In steps of ten seconds; `undefined` if the store keeps none. */
  readonly recent: QueueHistory | undefined
  /** That of the range. */
  readonly history: QueueHistory | undefined
}

/** A snapshot as a row of the overview, with the figures it is based on. */
export interface ShownRow {
  readonly row: QueueRow
  readonly chart: Chart | undefined
  readonly durations: Durations
}

interface KeptHistory {
  readonly readAt: number
  readonly history: QueueHistory
}

/** Reads the queues of a store, and keeps what needs several reads. */
export class StoreView {
  readonly store: StoreInspection
  readonly #durations: Map<string, RunDurations> = new Map()
  readonly #histories: Map<string, KeptHistory> = new Map()

  constructor(store: StoreInspection) {
    this.store = store
  }

  /** Reads one queue at `at`, the store's time. */
  async readQueue(
    queue: string,
    cap: number,
    range: HistoryRange,
    at: number,
  ): Promise<QueueSnapshot> {
    const inspect = this.store.queue(queue)
    const [counts, workers, recent, history] = await Promise.all([
      inspect.counts({ cap }),
      inspect.workers(),
      this.history(queue, '5m', at),
      range === '5m' ? undefined : this.history(queue, range, at),
    ])
    return { queue, counts, workers, recent, history: history ?? recent }
  }

  /** The history of a queue, a few seconds old at most; `undefined` if the store keeps none. */
  async history(queue: string, range: HistoryRange, at: number): Promise<QueueHistory | undefined> {
    if (!this.store.capabilities.history) return undefined
    const id = `${range} ${queue}`
    const kept = this.#histories.get(id)
    if (kept !== undefined && at >= kept.readAt && at - kept.readAt < historyForMs) {
      return { ...kept.history, now: Math.max(at, kept.history.now) }
    }
    const history = await this.store.queue(queue).history({ range })
    this.#histories.delete(id)
    this.#histories.set(id, { readAt: at, history })
    for (const [old, { readAt }] of this.#histories) {
      if (at - readAt < keepMs) break
      this.#histories.delete(old)
    }
    return history
  }

  /** A snapshot as a row of the overview. */
  row(snapshot: QueueSnapshot, at: number): ShownRow {
    const { queue, counts, workers, recent: history } = snapshot
    const kept = this.#durationsOf(queue, at)
    kept.record(at, workers)
    const durations = kept.figures(at)
    const { wait, work } = durations
    const chart = snapshot.history === undefined ? undefined : chartOf(snapshot.history, workers)
    const known = this.store.capabilities.workers ? workers : undefined
    // An age would change with each read; the counts carry the instant instead.
    const {
      rates,
      oldestMs: _,
      ...judgement
    } = judgeQueue({
      now: at,
      counts,
      workers: known,
      history,
    })
    const row: QueueRow = {
      queue,
      counts,
      ...judgement,
      flow: rates,
      depths: chart === undefined ? [] : depthsOf(chart),
      wait,
      work,
    }
    return { row, chart, durations }
  }

  #durationsOf(queue: string, at: number): RunDurations {
    const known = this.#durations.get(queue) ?? new RunDurations()
    // The map is in the order of the last read.
    this.#durations.delete(queue)
    this.#durations.set(queue, known)
    for (const [name, { seenAt }] of this.#durations) {
      if (this.#durations.size <= 2 * queuesMax && seenAt > at - keepMs) break
      if (name !== queue) this.#durations.delete(name)
    }
    return known
  }

  /** Every queue of the store. */
  async overview(range: HistoryRange): Promise<Overview> {
    const { names, stored } = await this.queueNames()
    const at = await this.store.now()
    const { read: snapshots, unread } = await this.forEach(names, (name) =>
      this.readQueue(name, overviewCap, range, at),
    )
    const shown = snapshots.map((snapshot) => this.row(snapshot, at))
    const charts = shown.map(({ chart }) => chart).filter((chart) => chart !== undefined)
    return {
      at,
      range,
      chart: sumOf(charts, emptyChart(range, at)),
      queues: shown.map(({ row }) => row).sort(worstFirst),
      stored,
      ...(unread.length === 0 ? {} : { unread }),
    }
  }

  /** The queues that are shown, and how many there are. */
  async queueNames(): Promise<{ readonly names: readonly string[]; readonly stored: number }> {
    const stored = this.store.capabilities.queues ? await this.store.queues() : []
    return { names: stored.slice(0, queuesMax), stored: stored.length }
  }

  /**
   * Reads several queues, a few of them concurrently. One that cannot be read does not hide the others:
   * it is named, also where it is the only one, so that its page is found.
   */
  async forEach<Read>(
    names: readonly string[],
    read: (name: string) => Promise<Read>,
  ): Promise<{ readonly read: readonly Read[]; readonly unread: UnreadQueues }> {
    const answers: ({ readonly read: Read } | { readonly error: unknown })[] = []
    let next = 0
    const readNext = async (): Promise<void> => {
      for (let index = next; index < names.length; index = next) {
        next += 1
        answers[index] = await readOrDamage(() => read(names[index] as string))
        if (next % queuesPerTurn === 0) await new Promise<void>(nextTurn)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, readNext))
    const found = answers.flatMap((answer) => ('read' in answer ? [answer.read] : []))
    const unread = answers.flatMap((answer, index) => {
      if ('read' in answer) return []
      return [{ queue: names[index] as string, message: refusalOf(answer.error).message }]
    })
    return { read: found, unread }
  }
}

/** The codes of errors that may be those of one queue, and stay until it is repaired or purged. */
const damageCodes: ReadonlySet<unknown> = new Set(['ERR_STORE_DAMAGED', 'ERR_SCHEMA_NEWER'])

/** What was read, or why a queue is damaged; rejects with any other error. */
async function readOrDamage<Read>(
  read: () => Promise<Read>,
): Promise<{ readonly read: Read } | { readonly error: unknown }> {
  try {
    return { read: await read() }
  } catch (error) {
    if (SluiceError.is(error) && damageCodes.has(error.code)) return { error }
    throw error
  }
}

function worstFirst(a: QueueRow, b: QueueRow): number {
  const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  if (bySeverity !== 0) return bySeverity
  return a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0
}

/** A chart of nothing. */
export function emptyChart(range: HistoryRange, at: number): Chart {
  const stepMs = { '5m': 10_000, '1h': 60_000, '24h': 600_000 }[range]
  return chartOf({ now: at, stepMs, steps: [] }, [])
}
