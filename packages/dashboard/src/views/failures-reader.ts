import type { HistoryRange } from 'sluice'
import type { Chart, FailureGroup, FailuresView } from '../wire.ts'
import { chartOf, sumOf } from './chart-steps.ts'
import { failureGroups, mostFirst } from './failure-groups.ts'
import { type FailingKeys, findFailingKeys } from './find-keys.ts'
import type { KeyDisplay } from './key-display.ts'
import { emptyChart, overviewCap, type StoreView } from './store-view.ts'

/** The maximum number of groups that are shown. */
const groupsMax = 500

/** The maximum number of runs in each group: as many as are kept. */
const runsMax = 20

/** How often the failing keys of a queue are searched: that reads many other keys. */
const searchEveryMs = 5_000

/** The maximum number of failing keys that are read of each queue, and of one queue alone. */
const keysMax = { each: 200, alone: 1_000 }

/** The failures of one queue as they were read. */
interface Read {
  readonly chart: Chart | undefined
  readonly groups: readonly FailureGroup[]
}

/** Reads the failures of one queue, or of every queue. */
export class FailuresReader {
  readonly #storeView: StoreView
  readonly #display: KeyDisplay
  readonly #queue: string | undefined
  readonly #range: HistoryRange
  readonly #searches: Map<string, { readonly at: number; readonly found: FailingKeys }> = new Map()

  constructor(
    storeView: StoreView,
    display: KeyDisplay,
    queue: string | undefined,
    range: HistoryRange,
  ) {
    this.#storeView = storeView
    this.#display = display
    this.#queue = queue
    this.#range = range
  }

  async view(): Promise<FailuresView> {
    const storeView = this.#storeView
    const range = this.#range
    const queue = this.#queue
    const { names, stored } =
      queue === undefined ? await storeView.queueNames() : { names: [queue], stored: 1 }
    const at = await storeView.store.now()
    const { read, unread } =
      queue === undefined
        ? await storeView.forEach(names, (name) => this.#read(name, at))
        : { read: [await this.#read(queue, at)], unread: [] }
    for (const name of this.#searches.keys()) {
      if (!names.includes(name)) this.#searches.delete(name)
    }
    const charts = read.map(({ chart }) => chart).filter((chart) => chart !== undefined)
    const groups = read.flatMap((each) => each.groups).sort(mostFirst)
    return {
      at,
      range,
      chart: sumOf(charts, emptyChart(range, at)),
      groups: groups.slice(0, groupsMax),
      more: stored > names.length || groups.length > groupsMax,
      ...(unread.length === 0 ? {} : { unread }),
    }
  }

  async #read(queue: string, at: number): Promise<Read> {
    const inspect = this.#storeView.store.queue(queue)
    const [counts, workers, history, runs] = await Promise.all([
      inspect.counts({ cap: overviewCap }),
      inspect.workers(),
      this.#storeView.history(queue, this.#range, at),
      inspect.failedRuns(),
    ])
    const last = this.#searches.get(queue)
    const isNew = last !== undefined && at - last.at < searchEveryMs && at >= last.at
    const max = this.#queue === undefined ? keysMax.each : keysMax.alone
    const search = isNew ? last : { at, found: await findFailingKeys(inspect, counts, max) }
    this.#searches.set(queue, search)
    const { keys, more } = search.found
    return {
      chart: history === undefined ? undefined : chartOf(history, workers),
      groups: failureGroups({ queue, history, runs, keys, more }, this.#display, runsMax),
    }
  }
}
