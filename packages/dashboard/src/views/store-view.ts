import type { QueueCounts, StoreInspection, WorkerRow } from 'sluice'
import type { Overview, QueueRow } from '../wire.ts'
import { type Figures, QueueHistory, sampling } from './queue-history.ts'
import { assess, severities } from './severity.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** How many queues the overview shows. */
const queuesMax = 1_000

/** How far keys of a state are counted for the overview. */
const overviewCap = 1_000

/** How many queues are looked at side by side. */
const lanes = 4

/** How many queues are looked at before everything else gets its turn. */
const queuesPerTurn = 8

/** What is known of one queue at one moment. */
export interface QueueSnapshot {
  readonly queue: string
  readonly counts: QueueCounts
  readonly workers: readonly WorkerRow[]
}

/** Looks at the queues of a store, and remembers of each what a single readQueue cannot tell. */
export class StoreView {
  readonly store: StoreInspection
  readonly #histories: Map<string, QueueHistory> = new Map()

  constructor(store: StoreInspection) {
    this.store = store
  }

  /** Looks at one queue. */
  async readQueue(queue: string, cap: number): Promise<QueueSnapshot> {
    const inspect = this.store.queue(queue)
    const [counts, workers] = await Promise.all([inspect.counts({ cap }), inspect.workers()])
    return { queue, counts, workers }
  }

  /** A readQueue as a row of the overview, and what was worked out for it. */
  row(look: QueueSnapshot, at: number): { readonly row: QueueRow; readonly figures: Figures } {
    const { queue, counts, workers } = look
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
      // Those seen last come last.
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
    const looks = await this.#readQueues(names)
    const queues = looks.map((look) => this.row(look, at).row)
    return {
      at,
      historyEveryMs: sampling.everyMs,
      queues: queues.sort(worstFirst),
      more: stored.length > names.length,
    }
  }

  async #readQueues(names: readonly string[]): Promise<QueueSnapshot[]> {
    const looks: QueueSnapshot[] = []
    let next = 0
    const lane = async (): Promise<void> => {
      for (let at = next; at < names.length; at = next) {
        next += 1
        looks[at] = await this.readQueue(names[at] as string, overviewCap)
        if (next % queuesPerTurn === 0) await yieldToEventLoop()
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return looks
  }
}

function worstFirst(a: QueueRow, b: QueueRow): number {
  const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  if (bySeverity !== 0) return bySeverity
  return a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0
}
