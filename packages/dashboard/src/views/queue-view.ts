import { bucketsOf, keyStateWords, type LimiterPlan, lastSeenPlan, tokensAt } from '@sluice/core'
import { planWords } from '@sluice/core/words'
import {
  type BucketRow,
  type FailedRunInfo,
  type HistoryRange,
  type Inspect,
  isGone,
  type KeyInfo,
  type QueueCounts,
  type Severity,
  type SeveritySince,
  severitySince,
  type WorkerRow,
} from 'sluice'
import type { BucketView, LeaseView, QueueView, WorkerView } from '../wire.ts'
import { failureGroups } from './failure-groups.ts'
import { findFailingKeys, firstDue, firstKeys } from './find-keys.ts'
import type { KeyDisplay } from './key-display.ts'
import { similarNames } from './similar-names.ts'
import { emptyChart, type QueueSnapshot, type StoreView } from './store-view.ts'

/** The cap up to which keys of a state are counted for the page of a queue. */
const queueCap = 10_000

/** The maximum number of leases that are shown. */
const leasesMax = 200

/** The maximum number of workers that are shown. */
const workersMax = 500

/** The maximum number of failing keys that are read. */
const failingMax = 1_000

/** The maximum number of delayed keys that are read, for the one that is due next. */
const delayedMax = 200

/** The maximum number of runs in each group of failures. */
const runsMax = 5

/** How often failing keys are searched, in milliseconds: a search reads many other keys. */
const failingEveryMs = 5_000

/** The result of a search that reads many keys. */
interface Search {
  readonly at: number
  readonly failing: readonly KeyInfo[]
  readonly runs: readonly FailedRunInfo[]
  readonly nextDelayedAt: number | undefined
  readonly nextBackoffAt: number | undefined
  readonly more: boolean
}

/** Reads the view of one queue. */
export class QueueViewReader {
  readonly #storeView: StoreView
  readonly #display: KeyDisplay
  readonly #queue: string
  readonly #range: HistoryRange
  #search: Search | undefined

  constructor(storeView: StoreView, display: KeyDisplay, queue: string, range: HistoryRange) {
    this.#storeView = storeView
    this.#display = display
    this.#queue = queue
    this.#range = range
  }

  async view(): Promise<QueueView> {
    const { store } = this.#storeView
    const inspect = store.queue(this.#queue)
    const range = this.#range
    const at = await store.now()
    const snapshot = await this.#storeView.readQueue(this.#queue, queueCap, range, at)
    const { counts, workers, history } = snapshot
    const { row, chart, durations } = this.#storeView.row(snapshot, at)
    const { waitHistogram, workHistogram } = durations
    const since = await this.#since(row.severity, { now: at, counts, workers })
    const held = await this.#leases(inspect, counts)
    const search = await this.#searched(inspect, counts, at)
    const plan = lastSeenPlan(workers)
    const buckets = (await store.buckets()).filter(isBucketOf(plan, this.#queue))
    const names = await this.#names(snapshot)
    const exists = names.includes(this.#queue)
    const { runs, failing: keys, nextDelayedAt, nextBackoffAt, more } = search
    const failures = { queue: this.#queue, history, runs, keys, more }
    return {
      ...row,
      at,
      range,
      chart: chart ?? emptyChart(range, at),
      since,
      exists,
      similar: exists ? [] : similarNames(this.#queue, names),
      waitHistogram,
      workHistogram,
      nextDelayedAt,
      nextBackoffAt,
      limiter: plan && planWords(plan),
      buckets: buckets.map((bucket) => bucketView(bucket, at)),
      workerList: workers.slice(0, workersMax).map((worker) => workerView(worker, held.keys, at)),
      leases: held.keys.map(leaseView),
      failureGroups: failureGroups(failures, this.#display, runsMax),
      more: held.more,
    }
  }

  /** The names of all queues; of this one alone if it is in use, since a store may have very many. */
  async #names({ counts, workers }: QueueSnapshot): Promise<readonly string[]> {
    const { store } = this.#storeView
    const isInUse =
      counts.paused || workers.length > 0 || keyStateWords.some((word) => counts[word] > 0)
    if (isInUse || !store.capabilities.queues) return [this.#queue]
    return await store.queues()
  }

  async #since(
    severity: Severity,
    signs: Pick<QueueSnapshot, 'counts' | 'workers'> & { readonly now: number },
  ): Promise<SeveritySince | undefined> {
    const none = { now: signs.now, stepMs: 10_000, steps: [] }
    return await severitySince(severity, signs, {
      history: async ({ range = '5m' } = {}) =>
        (await this.#storeView.history(this.#queue, range, signs.now)) ?? none,
    })
  }

  async #leases(
    inspect: Inspect,
    counts: QueueCounts,
  ): Promise<{ keys: KeyInfo[]; more: boolean }> {
    const found: KeyInfo[] = []
    let more = false
    for (const state of ['processing', 'dirty'] as const) {
      if (counts[state] === 0) continue
      const { keys, isCut } = await firstKeys(inspect, state, leasesMax)
      found.push(...keys)
      more ||= isCut
    }
    const end = ({ held }: KeyInfo): number => held?.leaseUntil ?? Number.POSITIVE_INFINITY
    const keys = found.sort((a, b) => (end(a) < end(b) ? -1 : 1)).slice(0, leasesMax)
    return { keys, more: more || keys.length < found.length }
  }

  async #searched(inspect: Inspect, counts: QueueCounts, at: number): Promise<Search> {
    const last = this.#search
    const isNew = last !== undefined && at - last.at < failingEveryMs && at >= last.at
    const search = isNew ? last : await searchKeys(inspect, counts, at)
    this.#search = search
    return search
  }
}

async function searchKeys(inspect: Inspect, counts: QueueCounts, at: number): Promise<Search> {
  const found = await findFailingKeys(inspect, counts, failingMax)
  const hasDelayed = counts.delayed > 0
  const delayed = hasDelayed ? await firstKeys(inspect, 'delayed', delayedMax) : undefined
  return {
    at,
    failing: found.keys,
    runs: await inspect.failedRuns(),
    nextDelayedAt: delayed && firstDue(delayed),
    nextBackoffAt: found.nextBackoffAt,
    more: found.more,
  }
}

function isBucketOf(plan: LimiterPlan | undefined, queue: string): (bucket: BucketRow) => boolean {
  const names = new Set(plan === undefined ? [] : bucketsOf(plan).map(({ name }) => name))
  names.add(`queue:${queue}`)
  return ({ name }) => names.has(name)
}

function bucketView(bucket: BucketRow, now: number): BucketView {
  const { name, perSecond, burst, tokens, at: lastMs } = bucket
  const left = tokensAt({ tokens, lastMs }, bucket, now)
  return { name, perSecond, burst, tokens: Math.floor(left * 10) / 10 }
}

function workerView(worker: WorkerRow, held: readonly KeyInfo[], at: number): WorkerView {
  const { holder, host, pid, concurrency, startedAt, seenAt, stats } = worker
  // What a worker reported as its longest run may be over: only keys that it still holds count.
  const reported = stats?.longest
  const isRunning = held.some((key) => key.held?.holder === holder && key.key === reported?.key)
  return {
    ...{ holder, host, pid, concurrency, startedAt, seenAt },
    isGone: concurrency > 0 && isGone(worker, at),
    busy: stats?.busy,
    longest: isRunning && reported ? { key: reported.key, since: reported.startedAt } : undefined,
  }
}

function leaseView({ key, state, failures, held }: KeyInfo): LeaseView {
  return {
    key,
    isDirty: state === 'dirty',
    failures,
    holder: held?.holder,
    leaseUntil: held?.leaseUntil,
  }
}
