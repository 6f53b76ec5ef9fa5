import type { QueueCounts, StoreInspection, WorkerRow } from 'sluice'
import type { Overview, QueueRow } from '../wire.ts'
import { type Figures, QueueHistory, sampling } from './queue-history.ts'
import { assess, severities } from './severity.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** The maximum number of queues in the overview. */
const queuesMax = 1_000

/** The cap up to which keys of a state are counted for the overview. */
const overviewCap = 1_000

/** How many queues are read concurrently. */
const concurrency = 4

/** How many queues are read before the event loop gets a turn. */
const queuesPerTurn = 8

/** One queue as it was read at one moment. */
export interface QueueSnapshot {
  readonly queue: string
  readonly counts: QueueCounts
  readonly workers: readonly WorkerRow[]
}

/** Reads the queues of a store, and keeps the history of each for figures that need several reads. */
export class StoreView {
  readonly store: StoreInspection
  readonly #histories: Map<string, QueueHistory> = new Map()

  constructor(store: StoreInspection) {
    this.store = store
  }

  /** Reads one queue. */
  async readQueue(queue: string, cap: number): Promise<QueueSnapshot> {
    const inspect = this.store.queue(queue)
    const [counts, workers] = await Promise.all([inspect.counts({ cap }), inspect.workers()])
    return { queue, counts, workers }
  }

  /** A snapshot as a row of the overview, with the figures it is based on. */
  row(snapshot: QueueSnapshot, at: number): { readonly row: QueueRow; readonly figures: Figures } {
    const { queue, counts, workers } = snapshot
    const { oldestReadyAt } = counts
    const oldestMs = oldestReadyAt === undefined ? undefined : Math.max(0, at - oldestReadyAt)
    const track = this.#history(queue, at)
    track.record(at, counts, workers)
    const figures = track.figures(at)
    const { flow, wait, work, history: samples } = figures
    const working = workers.filter(({ concurrency }) => concurrency > 0)
    const judgement = assess({
      counts,
      oldestMs,
      workers: this.store.capabilities.workers ? working.length : undefined,
      leasesLost: figures.leasesLost,
      flow,
    })
    const row = {
      queue,
      counts,
      ...(oldestMs === undefined ? {} : { oldestMs: Math.round(oldestMs) }),
      workers: working.length,
      slots: working.reduce((sum, { concurrency }) => sum + concurrency, 0),
      ...judgement,
      flow,
      history: samples,
      ...(wait === undefined ? {} : { wait }),
      ...(work === undefined ? {} : { work }),
    }
    return { row, figures }
  }

  #history(queue: string, at: number): QueueHistory {
    const known = this.#histories.get(queue)
    if (known !== undefined) {
      // The map is in the order of the last read.
      this.#histories.delete(queue)
      this.#histories.set(queue, known)
      return known
    }
    const track = new QueueHistory()
    this.#histories.set(queue, track)
    for (const [name, { seenAt }] of this.#histories) {
      if (
        this.#histories.size <= 2 * queuesMax &&
        seenAt > at - sampling.everyMs * sampling.samples
      )
        break
      if (name !== queue) this.#histories.delete(name)
    }
    return track
  }

  /** Every queue of the store. */
  async overview(): Promise<Overview> {
    const { capabilities } = this.store
    const stored = capabilities.queues ? await this.store.queues() : []
    const names = stored.slice(0, queuesMax)
    const at = await this.store.now()
    const snapshots = await this.#readQueues(names)
    const queues = snapshots.map((snapshot) => this.row(snapshot, at).row)
    return {
      at,
      historyEveryMs: sampling.everyMs,
      queues: queues.sort(worstFirst),
      more: stored.length > names.length,
    }
  }

  async #readQueues(names: readonly string[]): Promise<QueueSnapshot[]> {
    const snapshots: QueueSnapshot[] = []
    let next = 0
    const readNext = async (): Promise<void> => {
      for (let at = next; at < names.length; at = next) {
        next += 1
        snapshots[at] = await this.readQueue(names[at] as string, overviewCap)
        if (next % queuesPerTurn === 0) await yieldToEventLoop()
      }
    }
    await Promise.all(Array.from({ length: concurrency }, readNext))
    return snapshots
  }
}

function worstFirst(a: QueueRow, b: QueueRow): number {
  const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  if (bySeverity !== 0) return bySeverity
  return a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0
}
