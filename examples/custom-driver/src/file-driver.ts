import {
  type Ask,
  type AskOptions,
  type AskReply,
  type CancelOutcome,
  type Capabilities,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Counts,
  compareKeys,
  contractVersion,
  type Driver,
  type ExpireOptions,
  type ExpireOutcome,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
  type KeyRow,
  type KeyStateWord,
  keyStateWords,
  type Lease,
  type ListReply,
  type ListRequest,
  leaseEndsMax,
  never,
  noToken,
  type OpenOptions,
  perKeyDelay,
  type RenewReply,
  RisingTime,
  systemClock,
  type TickReply,
  type TickRequest,
  TokenBuckets,
  transitions,
} from '@sluice/core/driver'
import { type FileOptions, QueueFile, type Row } from './queue-file.ts'

/**
 * Stores all queues of one process in one file, which is rewritten with every change. The verbs are
 * synchronous, as a driver's may be.
 */
class FileDriver implements Driver {
  readonly name = 'file'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities = {
    durable: true,
    shared: false,
    clock: true,
    order: 'strict',
    time: 'wall',
    tokens: 'store',
    sharedBuckets: true,
    watch: false,
    peers: false,
    operate: false,
    queues: false,
    workers: false,
    history: false,
    buckets: false,
    transact: false,
  }
  readonly #file: QueueFile
  #time = new RisingTime(systemClock)

  constructor(path: string, options: FileOptions) {
    this.#file = new QueueFile(path, options)
  }

  open({ clock = systemClock }: OpenOptions): void {
    this.#file.load()
    this.#time = new RisingTime(clock)
    this.#time.startAhead(this.#file.time.ahead)
    this.#time.atLeast(this.#file.time.latest)
  }

  get ahead(): number {
    return this.#time.ahead
  }

  close(): void {}

  add(queue: string, asks: readonly Ask[], options: AskOptions): AskReply[] {
    return this.#change(queue, (now, buckets) => {
      let pending = [...this.#file.rows(queue).values()].filter(isPending).length
      return asks.map((ask): AskReply => {
        const row = this.#file.row(queue, ask.key)
        const { state } = row
        const before = transitions.countedFailures(state, now, options.failuresExpireMs)
        if (!isPending(row)) {
          if (pending >= (options.maxPending ?? Infinity)) {
            return { outcome: 'full', dueAt: never, failures: before }
          }
          pending += 1
        }
        const delayMs = buckets.delayOf(ask, before, now)
        const outcome = transitions.ask(state, ask, delayMs, options, now, this.#file.next())
        row.item = ask.item
        if (outcome !== 'unchanged') buckets.charge()
        const { dueAt, failures } = state
        return { outcome, dueAt, failures, ...(ask.plan && { plannedMs: delayMs }) }
      })
    })
  }

  claim(queue: string, request: ClaimRequest): ClaimReply {
    return this.#change(queue, (now) => {
      const waiting = [...this.#file.rows(queue)]
        .filter(([, { state }]) => transitions.isClaimable(state, now))
        .filter(([, { state }]) => state.dueAt <= (request.dueBy ?? never))
        .sort(([, { state: a }], [, { state: b }]) => {
          return b.priority - a.priority || a.readyAt - b.readyAt || a.seq - b.seq
        })
      // A key that has crashed twice is handed out alone: its handler may crash the process.
      const crashed = waiting.findIndex(([, { state }]) => state.crashes > 1)
      const alone = crashed < 0 ? waiting.length : Math.max(1, crashed)
      const claims = waiting
        .slice(0, Math.min(alone, request.limit))
        .map(([key, row]) => this.#take(key, row, request, now))
      return { claims, leaseEnds: this.#leaseEnds(queue, now, leaseEndsMax), now }
    })
  }

  #take(key: string, row: Row, request: ClaimRequest, now: number): Claim {
    const { state, item } = row
    const token = this.#file.next()
    transitions.claim(state, token, now + request.leaseMs, now, this.#file.next())
    row.holder = request.holder
    return {
      key,
      item,
      token,
      failures: state.failures,
      crashes: state.crashes,
      priority: state.claimedPriority,
      askedAt: state.claimedAskedAt,
      readyAt: state.claimedReadyAt,
      leaseUntil: state.leaseUntil,
      trace: state.claimedTrace,
    }
  }

  finish(queue: string, finishes: readonly Finish[], options: AskOptions): FinishReply[] {
    return this.#change(queue, (now, buckets) =>
      finishes.map((finish): FinishReply => {
        const row = this.#file.row(queue, finish.key)
        const { state } = row
        const delayMs = buckets.delayOf(finish, state.failures, now)
        const seq = this.#file.next()
        const outcome = transitions.finish(state, finish, delayMs, options, now, seq)
        if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
        buckets.charge()
        row.lastError = transitions.errorOf(finish) ?? row.lastError
        return { outcome, dueAt: state.dueAt, failures: state.failures }
      }),
    )
  }

  cancel(queue: string, keys: readonly string[]): CancelOutcome[] {
    return this.#change(queue, () =>
      keys.map((key) => transitions.cancel(this.#file.row(queue, key).state)),
    )
  }

  forget(queue: string, keys: readonly string[]): ForgetOutcome[] {
    return this.#change(queue, () =>
      keys.map((key) => transitions.forget(this.#file.row(queue, key).state)),
    )
  }

  renew(queue: string, leases: readonly Lease[], leaseMs: number): RenewReply[] {
    return this.#change(queue, (now) =>
      leases.map(({ key, token }): RenewReply => {
        const { state } = this.#file.row(queue, key)
        const outcome = transitions.renew(state, token, now + leaseMs)
        return { outcome, leaseUntil: state.leaseUntil }
      }),
    )
  }

  expire(queue: string, leases: readonly Lease[], options: ExpireOptions): ExpireOutcome[] {
    const { plan, jitter = 0, maxCrashes, dedupe, error } = options
    return this.#change(queue, (now) =>
      leases.map(({ key, token }) => {
        const row = this.#file.row(queue, key)
        const { state } = row
        const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter)
        const seq = this.#file.next()
        const outcome = transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
        if (outcome !== 'lost') row.lastError = error ?? row.lastError
        return outcome
      }),
    )
  }

  tick(queue: string, request: TickRequest): TickReply {
    return this.#change(queue, (now) => {
      const rows = this.#file.rows(queue)
      let nextAt = never
      for (const { state } of rows.values()) {
        // A held key that was added again cannot be claimed before its lease expires.
        if (state.token !== noToken) nextAt = Math.min(nextAt, state.leaseUntil)
        else if (!state.parked) nextAt = Math.min(nextAt, state.dueAt)
      }
      const stale = [...rows]
        .filter(([, { state }]) => {
          return transitions.hasStaleFailures(state, now, request.failuresExpireMs)
        })
        .slice(0, request.limit)
      for (const [key] of stale) rows.delete(key)
      const leaseEnds = this.#leaseEnds(queue, now, request.limit)
      return { now, nextAt, leaseEnds, swept: stale.length }
    })
  }

  counts(queue: string, { cap }: { readonly cap: number }): Counts {
    const now = this.#time.now()
    const states = [...this.#file.rows(queue).values()].map(({ state }) => state)
    const held = states.filter(({ token }) => token !== noToken)
    const words = states.map((state) => transitions.stateWord(state, now))
    const count = (word: KeyStateWord): number => words.filter((other) => other === word).length
    const counts = Object.fromEntries(
      keyStateWords.map((word) => [word, Math.min(cap, count(word))]),
    )
    return {
      ...(counts as Record<KeyStateWord, number>),
      capped: keyStateWords.some((word) => count(word) > cap),
      paused: false,
      oldestReadyAt: Math.min(
        never,
        ...states.filter((_, i) => words[i] === 'ready').map(({ readyAt }) => readyAt),
      ),
      heldUntil: held.length === 0 ? never : Math.max(...held.map(({ leaseUntil }) => leaseUntil)),
    }
  }

  list(queue: string, request: ListRequest): ListReply {
    const now = this.#time.now()
    const { keys, state: wanted, prefix = '', cursor = '', limit } = request
    const found = [...this.#file.rows(queue)]
      .filter(([key]) => keys?.includes(key) ?? true)
      .filter(([key]) => key.startsWith(prefix) && (cursor === '' || compareKeys(key, cursor) > 0))
      .map(([key, row]) => rowOf(key, row, now))
      .filter(({ state }) => state === (wanted ?? state))
      .sort((a, b) => compareKeys(a.key, b.key))
    if (keys !== undefined) return { now, rows: found }
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    return { now, rows, ...(last && rows.length < found.length && { cursor: last.key }) }
  }

  /**
   * Changes a queue: rows of which nothing remains are deleted, and the rest is written to disk.
   */
  #change<T>(queue: string, change: (now: number, buckets: TokenBuckets) => T): T {
    return this.#file.write(() => {
      const buckets = new TokenBuckets((name) => this.#file.buckets.get(name))
      const answer = change(this.#time.now(), buckets)
      for (const { name, tokens, at } of buckets.charged()) {
        this.#file.buckets.set(name, { tokens, lastMs: at })
      }
      this.#file.time = this.#time
      const rows = this.#file.rows(queue)
      for (const [key, { state }] of rows) if (transitions.isGone(state)) rows.delete(key)
      return answer
    })
  }

  #leaseEnds(queue: string, now: number, limit: number): Lease[] {
    return [...this.#file.rows(queue)]
      .filter(([, { state }]) => state.token !== noToken && state.leaseUntil <= now)
      .map(([key, { state }]) => ({ key, token: state.token }))
      .slice(0, limit)
  }
}

function isPending({ state }: Row): boolean {
  return state.dueAt !== never
}

function rowOf(key: string, { state, item, holder, lastError }: Row, now: number): KeyRow {
  return {
    ...state,
    key,
    state: transitions.stateWord(state, now),
    item,
    holder: state.token === noToken ? undefined : holder,
    lastError,
  }
}

/** Stores queues in the file at `path`, which one process at a time may open. */
export function fileDriver(path: string, options: FileOptions = {}): Driver {
  return new FileDriver(path, options)
}
