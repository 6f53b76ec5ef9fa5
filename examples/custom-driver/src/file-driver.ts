import {
  type Ask,
  type AskOptions,
  type AskReply,
  bucketsOf,
  type CancelOutcome,
  type Capabilities,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Counts,
  contractVersion,
  type Driver,
  type ExpireOptions,
  type ExpireOutcome,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type ForgetOutcome,
  type KeyRow,
  type KeyStateWord,
  keyStateWords,
  type Lease,
  type LimiterPlan,
  type ListReply,
  type ListRequest,
  never,
  noToken,
  type OpenOptions,
  perKeyDelay,
  planDelay,
  type RenewReply,
  RisingTime,
  reserveToken,
  systemClock,
  type TickReply,
  type TickRequest,
  transitions,
} from '@sluice/core'
import { type FileOptions, KeptFile, type Row } from './kept-file.ts'

/** How many leases that are over one claim reports. */
const leaseEndsMax = 100

/**
 * Keeps all queues of one process in one file, which is written anew with every change. The verbs
 * answer at once; a driver may.
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
    watch: false,
    peers: false,
    operate: false,
    queues: false,
    workers: false,
    buckets: false,
    transact: false,
  }
  readonly #file: KeptFile
  #time = new RisingTime(systemClock)

  constructor(path: string, options: FileOptions) {
    this.#file = new KeptFile(path, options)
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
    return this.#change(queue, (now) => {
      let pending = [...this.#file.rows(queue).values()].filter(isOwed).length
      return asks.map((ask): AskReply => {
        const row = this.#file.row(queue, ask.key)
        const { state } = row
        const before = transitions.countedFailures(state, now, options.failuresExpireMs)
        if (!isOwed(row)) {
          if (pending >= (options.maxPending ?? Infinity)) {
            return { outcome: 'full', dueAt: never, failures: before }
          }
          pending += 1
        }
        const plan = this.#plan(ask.plan, before, ask.jitter, now)
        const delayMs = plan?.delayMs ?? ask.delayMs
        const outcome = transitions.ask(state, ask, delayMs, options, now, this.#file.next())
        row.item = ask.item
        if (outcome !== 'unchanged') plan?.charge()
        const { dueAt, failures } = state
        return { outcome, dueAt, failures, ...(plan && { plannedMs: plan.delayMs }) }
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
      // A key with crashes is handed out alone: it may take its holder down.
      const poison = waiting.findIndex(([, { state }]) => state.crashes > 0)
      const alone = poison < 0 ? waiting.length : Math.max(1, poison)
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
    }
  }

  finish(queue: string, finishes: readonly Finish[], options: AskOptions): FinishReply[] {
    return this.#change(queue, (now) =>
      finishes.map((finish): FinishReply => {
        const row = this.#file.row(queue, finish.key)
        const outcome = this.#finishOne(row, finish, options, now)
        if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
        if ('error' in finish) row.lastError = finish.error ?? row.lastError
        return { outcome, dueAt: row.state.dueAt, failures: row.state.failures }
      }),
    )
  }

  #finishOne({ state }: Row, finish: Finish, { dedupe }: AskOptions, now: number): FinishOutcome {
    const { token } = finish
    const seq = this.#file.next()
    switch (finish.as) {
      case 'done':
        return transitions.done(state, token, finish.forget, now, seq)
      case 'release':
        return transitions.release(state, token, dedupe, now, seq)
      case 'park':
        return transitions.parkHeld(state, token, finish.error !== undefined, dedupe, now, seq)
      case 'retry': {
        const plan = this.#plan(finish.plan, state.failures, finish.jitter, now)
        const delayMs = plan?.delayMs ?? finish.delayMs
        const outcome = transitions.retry(state, token, delayMs, dedupe, now, seq)
        if (outcome !== 'lost') plan?.charge()
        return outcome
      }
    }
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
    const { plan, jitter = 0, maxCrashes, dedupe } = options
    return this.#change(queue, (now) =>
      leases.map(({ key, token }) => {
        const { state } = this.#file.row(queue, key)
        const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter)
        const seq = this.#file.next()
        return transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
      }),
    )
  }

  tick(queue: string, request: TickRequest): TickReply {
    return this.#change(queue, (now) => {
      const rows = this.#file.rows(queue)
      let nextAt = never
      for (const { state } of rows.values()) {
        // One that is held and asked for again can only be looked at when its lease is over.
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
      return { now, nextAt, paused: false, leaseEnds, swept: stale.length }
    })
  }

  counts(queue: string, { cap }: { readonly cap: number }): Counts {
    const now = this.#time.now()
    const states = [...this.#file.rows(queue).values()].map(({ state }) => state)
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
    }
  }

  list(queue: string, request: ListRequest): ListReply {
    const now = this.#time.now()
    const { keys, state: wanted, prefix = '', cursor = '', limit } = request
    const found = [...this.#file.rows(queue)]
      .map(([key, row]) => rowOf(key, row, now))
      .filter(({ key }) => keys?.includes(key) ?? true)
      .filter(({ key, state }) => key.startsWith(prefix) && state === (wanted ?? state))
      .filter(({ key }) => cursor === '' || bytewise(key, cursor) > 0)
      .sort((a, b) => bytewise(a.key, b.key))
    if (keys !== undefined) return { now, rows: found }
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    return { now, rows, ...(last && rows.length < found.length && { cursor: last.key }) }
  }

  /** A change of one queue: what is gone of it is dropped, and the rest is on the disk. */
  #change<T>(queue: string, change: (now: number) => T): T {
    return this.#file.write(() => {
      const answer = change(this.#time.now())
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

  /** The delay that a plan gives, and how to charge its buckets if it is made use of. */
  #plan(plan: LimiterPlan | undefined, failures: number, jitter: number | undefined, now: number) {
    if (plan === undefined) return undefined
    const { buckets } = this.#file
    const taken = bucketsOf(plan).map(({ name, ...rate }) => {
      return { name, ...reserveToken(buckets.get(name), rate, now) }
    })
    const delays = new Map(taken.map(({ name, delayMs }) => [name, delayMs]))
    return {
      delayMs: planDelay(plan, failures, delays, jitter ?? 0),
      charge() {
        for (const { name, state } of taken) if (state) buckets.set(name, state)
      },
    }
  }
}

function isOwed({ state }: Row): boolean {
  return state.dueAt !== never
}

function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
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

/** Keeps queues in the file at `path`, which one process at a time may open. */
export function fileDriver(path: string, options: FileOptions = {}): Driver {
  return new FileDriver(path, options)
}
