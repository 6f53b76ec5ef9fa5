import {
  type Ask,
  type AskOptions,
  type AskReply,
  type CancelOutcome,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Clock,
  type Counts,
  type ExpireOptions,
  type ExpireOutcome,
  emptyKeyState,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
  type KeyRow,
  type KeyState,
  keyStateWords,
  type Lease,
  never,
  noToken,
  type OperateOutcome,
  perKeyDelay,
  planDelay,
  type RenewReply,
} from '@sluice/core'
import { transitions } from '@sluice/core/driver'

interface Entry {
  readonly key: string
  readonly state: KeyState
  item: string | undefined
  holder: string | undefined
  lastError: string | undefined
  /** Whether the failures that the error was of had expired before the last add. */
  hasExpiredError: boolean
}

/**
 * One queue as a plain map that is searched and sorted for everything: slow, and easy to believe.
 * Plans are taken without buckets, which have tests of their own.
 */
export class NaiveQueue {
  isPaused = false
  readonly #clock: Clock
  readonly #entries: Map<string, Entry> = new Map()
  #token = 0
  #seq = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(asks: readonly Ask[], options: AskOptions): AskReply[] {
    const now = this.#clock.now()
    return asks.map((ask) => {
      const entry = this.#entry(ask.key)
      const { state } = entry
      const before = transitions.countedFailures(state, now, options.failuresExpireMs)
      if (before < state.failures) entry.hasExpiredError = true
      if (state.dueAt === never && this.#pending() >= (options.maxPending ?? Infinity)) {
        this.#sweepGone()
        return { outcome: 'full', dueAt: never, failures: before }
      }
      const plan = ask.plan
      const plannedMs =
        plan === undefined ? undefined : planDelay(plan, before, new Map(), ask.jitter ?? 0)
      const delayMs = plannedMs ?? ask.delayMs
      const outcome = transitions.ask(state, ask, delayMs, options, now, this.#nextSeq())
      entry.item = ask.item
      const { dueAt, failures } = state
      return { outcome, dueAt, failures, ...(plannedMs !== undefined && { plannedMs }) }
    })
  }

  claim({ holder, leaseMs, limit, dueBy = never }: ClaimRequest): ClaimReply {
    const now = this.#clock.now()
    const ready = [...this.#entries.values()]
      .filter(({ state }) => transitions.isClaimable(state, now) && state.dueAt <= dueBy)
      .sort((a, b) => {
        const [one, other] = [a.state, b.state]
        return other.priority - one.priority || one.readyAt - other.readyAt || one.seq - other.seq
      })
    const claims: Claim[] = []
    for (const entry of this.isPaused ? [] : ready) {
      const { state } = entry
      if (claims.length === limit || (claims.length > 0 && state.crashes > 1)) break
      this.#token += 1
      transitions.claim(state, this.#token, now + leaseMs, now, this.#nextSeq())
      entry.holder = holder
      claims.push({
        key: entry.key,
        item: entry.item,
        token: state.token,
        failures: state.failures,
        crashes: state.crashes,
        priority: state.claimedPriority,
        askedAt: state.claimedAskedAt,
        readyAt: state.claimedReadyAt,
        leaseUntil: state.leaseUntil,
        trace: state.claimedTrace,
      })
      if (state.crashes > 1) break
    }
    return { claims, leaseEnds: this.#leaseEnds(now), now }
  }

  finish(finishes: readonly Finish[], options: AskOptions): FinishReply[] {
    const now = this.#clock.now()
    return finishes.map((finish) => {
      const entry = this.#entry(finish.key)
      const { state } = entry
      const seq = this.#nextSeq()
      const { token } = finish
      const { dedupe } = options
      let outcome: FinishReply['outcome']
      if (finish.as === 'done') {
        const { forget, again } = finish
        outcome =
          again === undefined
            ? transitions.done(state, token, forget, now, seq)
            : transitions.doneAgain(state, token, forget, again, dedupe, now, seq)
      } else if (finish.as === 'release') {
        outcome = transitions.release(state, token, dedupe, now, seq)
      } else if (finish.as === 'park') {
        const hasFailed = finish.error !== undefined
        outcome = transitions.parkHeld(state, token, hasFailed, dedupe, now, seq)
      } else {
        const { plan } = finish
        const delayMs =
          plan === undefined
            ? finish.delayMs
            : planDelay(plan, state.failures, new Map(), finish.jitter ?? 0)
        outcome = transitions.retry(state, token, delayMs, dedupe, now, seq, finish.priority)
      }
      if (outcome !== 'lost' && (finish.as === 'retry' || finish.as === 'park')) {
        if (finish.error !== undefined) {
          entry.lastError = finish.error
          entry.hasExpiredError = false
        }
      }
      const { dueAt, failures } = state
      this.#sweepGone()
      return outcome === 'lost'
        ? { outcome, dueAt: never, failures: 0 }
        : { outcome, dueAt, failures }
    })
  }

  renew(leases: readonly Lease[], leaseMs: number): RenewReply[] {
    const leaseUntil = this.#clock.now() + leaseMs
    return this.#each(leases, ({ state }, { token }) => ({
      outcome: transitions.renew(state, token, leaseUntil),
      leaseUntil: state.leaseUntil,
    }))
  }

  expire(leases: readonly Lease[], options: ExpireOptions): ExpireOutcome[] {
    const now = this.#clock.now()
    const { dedupe, jitter = 0, maxCrashes, plan } = options
    return this.#each(leases, ({ state }, { token }) => {
      const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter)
      const seq = this.#nextSeq()
      return transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
    })
  }

  forget(keys: readonly string[]): ForgetOutcome[] {
    return this.#eachKey(keys, ({ state }) => transitions.forget(state))
  }

  cancel(keys: readonly string[]): CancelOutcome[] {
    return this.#eachKey(keys, ({ state }) => transitions.cancel(state))
  }

  park(keys: readonly string[]): OperateOutcome[] {
    return this.#eachKey(keys, ({ state }) => transitions.park(state))
  }

  unpark(keys: readonly string[], forget: boolean): OperateOutcome[] {
    const now = this.#clock.now()
    return this.#eachKey(keys, ({ state }) =>
      transitions.unpark(state, forget, now, this.#nextSeq()),
    )
  }

  runNow(keys: readonly string[]): OperateOutcome[] {
    const now = this.#clock.now()
    return this.#eachKey(keys, ({ state }) => transitions.runNow(state, now, this.#nextSeq()))
  }

  remove(keys: readonly string[]): OperateOutcome[] {
    return this.#eachKey(keys, ({ state }) => transitions.remove(state))
  }

  purge(): number {
    return this.remove([...this.#entries.keys()]).filter((outcome) => outcome === 'changed').length
  }

  /**
   * Drops the keys that have only expired failures and that `isSwept` picks; by default all of them,
   * however many: the driver may take several ticks.
   */
  sweep(failuresExpireMs: number, isSwept: (key: string) => boolean = () => true): void {
    const now = this.#clock.now()
    for (const [key, { state }] of this.#entries) {
      const isStale = transitions.hasStaleFailures(state, now, failuresExpireMs)
      if (isStale && isSwept(key)) this.#entries.delete(key)
    }
  }

  /** Forgets the error of a key that was swept away before it was added again. */
  forgetError(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    if (entry.state.failures === 0 || entry.hasExpiredError) entry.lastError = undefined
  }

  nextAt(): number {
    let nextAt = never
    for (const { state } of this.#entries.values()) {
      if (state.token !== noToken) nextAt = Math.min(nextAt, state.leaseUntil)
      else if (!this.isPaused && !state.parked) nextAt = Math.min(nextAt, state.dueAt)
    }
    return nextAt
  }

  counts(): Omit<Counts, 'capped'> {
    const rows = this.rows()
    const counted = keyStateWords.map((word) => [
      word,
      rows.filter(({ state }) => state === word).length,
    ])
    const held = rows.filter(({ token }) => token !== noToken)
    const ready = rows.filter(({ state }) => state === 'ready').map(({ readyAt }) => readyAt)
    return {
      ...(Object.fromEntries(counted) as Record<KeyRow['state'], number>),
      paused: this.isPaused,
      oldestReadyAt: Math.min(never, ...ready),
      heldUntil: held.length === 0 ? never : Math.max(...held.map(({ leaseUntil }) => leaseUntil)),
    }
  }

  /** Every key, in the bytewise order of the keys. */
  rows(): KeyRow[] {
    const now = this.#clock.now()
    return [...this.#entries.values()]
      .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
      .map(({ key, item, holder, lastError, state }) => ({
        ...state,
        key,
        state: transitions.stateWord(state, now),
        item,
        holder: state.token === noToken ? undefined : holder,
        lastError,
      }))
  }

  #pending(): number {
    return [...this.#entries.values()].filter(({ state }) => state.dueAt !== never).length
  }

  #leaseEnds(now: number): Lease[] {
    return [...this.#entries.values()]
      .filter(({ state }) => state.token !== noToken && state.leaseUntil <= now)
      .map(({ key, state }) => ({ key, token: state.token }))
  }

  #nextSeq(): number {
    this.#seq += 1
    return this.#seq
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      const state = emptyKeyState()
      const nothing = { item: undefined, holder: undefined, lastError: undefined }
      entry = { key, state, ...nothing, hasExpiredError: false }
      this.#entries.set(key, entry)
    }
    return entry
  }

  #each<Request extends { readonly key: string }, Reply>(
    requests: readonly Request[],
    verb: (entry: Entry, request: Request) => Reply,
  ): Reply[] {
    const replies = requests.map((request) => verb(this.#entry(request.key), request))
    this.#sweepGone()
    return replies
  }

  #eachKey<Reply>(keys: readonly string[], verb: (entry: Entry) => Reply): Reply[] {
    return this.#each(
      keys.map((key) => ({ key })),
      verb,
    )
  }

  #sweepGone(): void {
    for (const [key, { state }] of this.#entries) {
      if (transitions.isGone(state)) this.#entries.delete(key)
    }
  }
}
