import {
  type Ask,
  type AskOptions,
  type AskReply,
  type Capabilities,
  type Counts,
  callerTrace,
  contractVersion,
  type Driver,
  type EpochMs,
  type Finish,
  type FinishReply,
  never,
  type RunResult,
  type SluiceEvent,
  sluiceChannel,
  type TickRequest,
  type TracedVerb,
  type WorkerRow,
} from '@sluice/core'
import { transitions } from '@sluice/core/driver'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { onTestFinished } from 'vitest'
import {
  type CustomRecorderOptions,
  createRecorder,
  type MetricsProvider,
  type Recorder,
} from '../src/index.ts'

export const noCounts: Counts = {
  ready: 0,
  delayed: 0,
  backoff: 0,
  processing: 0,
  dirty: 0,
  parked: 0,
  idle: 0,
  capped: false,
  paused: false,
  oldestReadyAt: never,
  heldUntil: never,
}

const alone: Capabilities = {
  durable: false,
  shared: false,
  clock: true,
  order: 'strict',
  time: 'monotonic',
  tokens: 'store',
  sharedBuckets: true,
  watch: false,
  peers: false,
  operate: true,
  queues: false,
  workers: true,
  history: false,
  buckets: false,
  transact: false,
}

/** What several processes would share: counts to be set, and who has registered. */
export class SharedStore {
  counts: Counts = noCounts
  readonly books = new Map<string, Map<string, WorkerRow>>()
  reads = 0
  isBroken = false
}

/** As much of a driver as metrics look at. */
export function storeDriver(
  clock: FakeClock,
  store: SharedStore = new SharedStore(),
  capabilities: Partial<Capabilities> = {},
): Driver {
  const rows = (name: string) => {
    const book = store.books.get(name) ?? new Map<string, WorkerRow>()
    store.books.set(name, book)
    return book
  }
  const driver = {
    name: 'staged',
    contractVersion,
    capabilities: { ...alone, ...capabilities },
    counts: () => {
      store.reads += 1
      if (store.isBroken) throw new Error('the store is away')
      return Promise.resolve(store.counts)
    },
    tick: (name: string, { holder, worker }: TickRequest) => {
      const now = clock.now()
      if (worker !== undefined) {
        const startedAt = rows(name).get(holder)?.startedAt ?? now
        rows(name).set(holder, { ...worker, startedAt, seenAt: now })
      }
      return Promise.resolve({ now, nextAt: never, leaseEnds: [], swept: 0 })
    },
    workers: (name: string, withinMs: number) =>
      Promise.resolve([...rows(name).values()].filter((r) => r.seenAt >= clock.now() - withinMs)),
  }
  return driver as unknown as Driver
}

/** Numbers by metric and labels, and how often each was set or observed. */
export class Ledger {
  readonly values = new Map<string, number>()
  readonly observed = new Map<string, number[]>()
  readonly moves: string[] = []

  value(name: string): number | undefined {
    return this.values.get(name)
  }

  observations(name: string): number[] {
    return this.observed.get(name) ?? []
  }

  readonly #move = (name: string, by: number): void => {
    this.values.set(name, (this.values.get(name) ?? 0) + by)
    this.moves.push(name)
  }

  counter(name: string) {
    this.values.set(name, 0)
    return { inc: (by = 1) => this.#move(name, by) }
  }

  gauge(name: string) {
    this.values.set(name, 0)
    return {
      inc: () => this.#move(name, 1),
      dec: () => this.#move(name, -1),
      set: (value: number) => {
        this.values.set(name, value)
        this.moves.push(name)
      },
    }
  }

  histogram(name: string) {
    const observed: number[] = []
    this.observed.set(name, observed)
    return { observe: (value: number) => void observed.push(value) }
  }

  /** The seven of client-go, and what comes on top. */
  provider(): MetricsProvider {
    return {
      newDepthMetric: (name) => this.gauge(`${name} depth`),
      newAddsMetric: (name) => this.counter(`${name} adds`),
      newLatencyMetric: (name) => this.histogram(`${name} latency`),
      newWorkDurationMetric: (name) => this.histogram(`${name} work`),
      newUnfinishedWorkSecondsMetric: (name) => this.gauge(`${name} unfinished`),
      newLongestRunningProcessorSecondsMetric: (name) => this.gauge(`${name} longest`),
      newRetriesMetric: (name) => this.counter(`${name} retries`),
      newDelayedItemsMetric: (name, reason) => this.gauge(`${name} ${reason}`),
      newRateLimiterDelayMetric: (name) => this.histogram(`${name} limiter`),
      newOldestReadyAgeMetric: (name) => this.gauge(`${name} oldest`),
      newDeduplicatedMetric: (name) => this.counter(`${name} deduplicated`),
      newLeaseExpirationsMetric: (name) => this.counter(`${name} expirations`),
      newReconcileMetrics: (name) => ({
        total: { inc: (result) => this.#move(`${name} run ${result}`, 1) },
        errors: this.counter(`${name} run errors`),
        terminalErrors: this.counter(`${name} run terminal`),
        timeouts: this.counter(`${name} run timeouts`),
        time: this.histogram(`${name} run time`),
        maxConcurrent: this.gauge(`${name} run max`),
        activeWorkers: this.gauge(`${name} run active`),
      }),
    }
  }
}

/** One queue object, as far as what it publishes goes. */
export class StagedQueue {
  readonly clock: FakeClock
  readonly driver: Driver
  readonly name: string
  readonly holder: string
  #token = 0
  /** What a store keeps of the adds of each key until it is claimed. */
  readonly #traces = new Map<string, string | undefined>()

  constructor(clock: FakeClock, driver: Driver, name = 'q', holder = 'here') {
    this.clock = clock
    this.driver = driver
    this.name = name
    this.holder = holder
  }

  event(verb: TracedVerb, request?: unknown): SluiceEvent {
    const { name: queue, driver: source, holder } = this
    return { verb, queue, driver: source.name, source, holder, request }
  }

  publish(verb: TracedVerb, request: unknown, result: unknown): void {
    const event = this.event(verb, request)
    sluiceChannel.start.runStores(event, () => {
      event.result = result
      sluiceChannel.end.publish(event)
    })
  }

  notice(verb: TracedVerb, request?: unknown): void {
    this.publish(verb, request, undefined)
  }

  ask(
    ask: Partial<Ask> & { key: string },
    reply: Partial<AskReply>,
    merged = 0,
    dedupe: AskOptions['dedupe'] = 'client-go',
  ): void {
    const trace = callerTrace(this.name, this.driver)
    const whole: Ask = { item: undefined, priority: 0, delayMs: 0, trace, ...ask }
    const answer: AskReply = { outcome: 'added', dueAt: this.clock.now(), failures: 0, ...reply }
    const options = { dedupe, failuresExpireMs: 1 }
    this.publish('add', { asks: [whole], options, merged }, [answer])
    const { key } = whole
    this.#traces.set(key, transitions.mergeTraces(this.#traces.get(key), whole.trace))
  }

  /** An add, answered as the first of its key unless something else is said. */
  add(key: string, outcome: AskReply['outcome'] = 'added', priority = 0): void {
    this.ask({ key, priority }, { outcome })
  }

  addAfter(key: string, delayMs: number, outcome: AskReply['outcome'] = 'added'): void {
    const dueAt = this.clock.now() + delayMs
    this.ask({ key, delayMs, maxWaitMs: undefined }, { outcome, dueAt })
  }

  /** A claim, as through the direct queue of a driver; or as in a batch, with where it stood in line. */
  claim(key: string, more: { askedAt?: EpochMs; readyAt?: EpochMs } = {}): number {
    const now = this.clock.now()
    const claim = { ...this.#claimOf(key), askedAt: now, ...more }
    this.publish('claim', { limit: 1 }, { claims: [claim], leaseEnds: [], now })
    return this.#token
  }

  /** The same, found after the answer of the claim was lost. */
  adopt(key: string, more: { askedAt: EpochMs; readyAt: EpochMs }): number {
    this.publish('adopt', { claimId: 'c' }, [{ ...this.#claimOf(key), ...more }])
    return this.#token
  }

  #claimOf(key: string) {
    this.#token += 1
    const trace = this.#traces.get(key)
    this.#traces.delete(key)
    return { key, token: this.#token, priority: 0, failures: 0, trace }
  }

  finish(
    finish: Finish,
    reply: Partial<FinishReply> = {},
    dedupe: AskOptions['dedupe'] = 'client-go',
  ): void {
    const answer: FinishReply = { outcome: 'idle', dueAt: never, failures: 0, ...reply }
    const options = { dedupe, failuresExpireMs: 1 }
    this.publish('finish', { finishes: [finish], options }, [answer])
  }

  done(key: string, token: number, reply: Partial<FinishReply> = {}): void {
    this.finish({ as: 'done', key, token, forget: false }, reply)
  }

  /** A run of a handler; gives how it ends. */
  run(token: number, concurrency: number): (result: Partial<RunResult>) => void {
    const event = this.event('run', { key: 'k', token, failures: 0, concurrency })
    sluiceChannel.start.publish(event)
    sluiceChannel.end.publish(event)
    return (result) => {
      event.result = { result: 'success', isTerminal: false, isTimedOut: false, ...result }
      sluiceChannel.asyncStart.publish(event)
      sluiceChannel.asyncEnd.publish(event)
    }
  }
}

/** A clock at 0, a queue that publishes, and a recorder that listens. */
export function stage(options: Partial<CustomRecorderOptions> = {}) {
  const clock = fakeClock(0)
  const ledger = new Ledger()
  const errors: unknown[] = []
  const recorder: Recorder = createRecorder({
    provider: ledger.provider(),
    clock,
    onError: (error) => errors.push(error),
    ...options,
  })
  onTestFinished(async () => {
    await recorder.close()
  })
  return { clock, ledger, errors, recorder }
}

/** A provider whose counter of adds throws. */
export function throwingAtAdds(provider: MetricsProvider): MetricsProvider {
  return {
    ...provider,
    newAddsMetric: () => ({
      inc: () => {
        throw new Error('no')
      },
    }),
  }
}
