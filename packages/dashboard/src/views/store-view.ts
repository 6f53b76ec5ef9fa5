import type { QueueCounts, StoreInspection, WorkerRow } from 'sluice'
import { breathe } from './yield-to-event-loop.ts'
import { type Figures, history, QueueTrack } from './queue-history.ts'
import { judge, severities } from './severity.ts'
import type { Overview, QueueRow } from '../wire.ts'

/** How many queues the overview shows. */
const queuesMax = 1_000

/** How far keys of a state are counted for the overview. */
const overviewCap = 1_000

/** How many queues are looked at side by side. */
const lanes = 4

/** How many queues are looked at before everything else gets its turn. */
const queuesPerBreath = 8

/** What is known of one queue at one moment. */
export interface QueueLook {
  readonly queue: string
  readonly counts: QueueCounts
  readonly workers: readonly WorkerRow[]
}

/** Looks at the queues of a store, and remembers of each what a single look cannot tell. */
export class StoreLooks {
  readonly store: StoreInspection
  readonly #tracks: Map<string, QueueTrack> = new Map()

  constructor(store: StoreInspection) {
    this.store = store
  }

  /** Looks at one queue. */
  async look(queue: string, cap: number): Promise<QueueLook> {
    const inspect = this.store.queue(queue)
    const [counts, workers] = await Promise.all([inspect.counts({ cap }), inspect.workers()])
    return { queue, counts, workers }
  }

  /** A look as a row of the overview, and what was worked out for it. */
  row(look: QueueLook, at: number): { readonly row: QueueRow; readonly figures: Figures } {
    const { queue, counts, workers } = look
    const { oldestReadyAt } = counts
    const oldestMs = oldestReadyAt === undefined ? undefined : Math.max(0, at - oldestReadyAt)
    const track = this.#track(queue, at)
    track.see(at, counts, workers)
    const figures = track.figures(at)
    const { flow, wait, work, history: samples } = figures
    const working = workers.filter(({ concurrency }) => concurrency > 0)
    const judgement = judge({
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

  #track(queue: string, at: number): QueueTrack {
    const known = this.#tracks.get(queue)
    if (known !== undefined) {
      // Those seen last come last.
      this.#tracks.delete(queue)
      this.#tracks.set(queue, known)
      return known
    }
    const track = new QueueTrack()
    this.#tracks.set(queue, track)
    for (const [name, { seenAt }] of this.#tracks) {
      if (this.#tracks.size <= 2 * queuesMax && seenAt > at - history.everyMs * history.samples)
        break
      if (name !== queue) this.#tracks.delete(name)
    }
    return track
  }

  /** Every queue of the store. */
  async overview(): Promise<Overview> {
    const { capabilities } = this.store
    const stored = capabilities.queues ? await this.store.queues() : []
    const names = stored.slice(0, queuesMax)
    const at = await this.store.now()
    const looks = await this.#lookAt(names)
    const queues = looks.map((look) => this.row(look, at).row)
    return {
      at,
      historyEveryMs: history.everyMs,
      queues: queues.sort(worstFirst),
      more: stored.length > names.length,
    }
  }

  async #lookAt(names: readonly string[]): Promise<QueueLook[]> {
    const looks: QueueLook[] = []
    let next = 0
    const lane = async (): Promise<void> => {
      for (let at = next; at < names.length; at = next) {
        next += 1
        looks[at] = await this.look(names[at] as string, overviewCap)
        if (next % queuesPerBreath === 0) await breathe()
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
