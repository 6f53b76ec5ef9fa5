import {
  type Ask,
  type AskOptions,
  type AskReply,
  type EpochMs,
  type ExpireOutcome,
  type Failure,
  type Finish,
  type FinishReply,
  type Lease,
  never,
} from '@sluice/core'
import { secondsOf } from '../provider/seconds.ts'
import { askDelayMs, retryDelayMs, secondRunMs } from './ask-delay-ms.ts'
import { type DelayedKey, DueHeap } from './due-heap.ts'
import type { Mark, Moment, ParkedKey, Running, SeenClaim } from './ledger-entries.ts'
import type { QueueMeters } from './queue-meters.ts'

/** How many keys of a shared store are kept between their add and their claim. */
const sharedMarksMax = 10_000

/**
 * The due time of a second run is computed here, a moment after the store has set it. One that is closer than this
 * may have merged in the store with the run before it.
 */
const secondRunMsMin = 1

/** A key that has been due for longer than any call takes was due before it was added again. */
const dueBeforeMs = 1_000

/**
 * The state of one queue of one store by the rules of client-go: which keys are in its dirty set,
 * since when, and which are running.
 *
 * If only this process uses the store, the ledger is complete and exact. With other processes it
 * would be neither complete nor small; then the claims contain the necessary times, and the entries
 * here, of at most ten thousand keys, only make them more exact.
 */
export class QueueLedger {
  readonly #meters: QueueMeters
  readonly #isAlone: boolean
  readonly #marks = new Map<string, Mark>()
  readonly #running = new Map<number, Running>()
  /** The due times of delayed keys, if no other process can change them. */
  readonly #later = new DueHeap()
  /** The pending runs of parked keys, if no other process can change them. */
  readonly #parked = new Map<string, ParkedKey>()
  /** That of the last add: an operator's release does not say how it merges runs. */
  #dedupe: AskOptions['dedupe'] = 'client-go'

  constructor(meters: QueueMeters, isAlone: boolean) {
    this.#meters = meters
    this.#isAlone = isAlone
  }

  /** Counts in the keys whose delays have ended. */
  promote({ now, monotonicMs }: Moment): void {
    for (;;) {
      const due = this.#later.popDue(now)
      if (due === undefined) return
      const { key, dueAt, priority } = due
      if (this.#marks.has(key)) continue
      this.#enter(key, priority, monotonicMs - (now - dueAt), dueAt)
    }
  }

  #enter(key: string, priority: number, since: number | undefined, dueAt: EpochMs): void {
    this.#meters.adds.inc()
    this.#mark(key, priority, { since, dueAt, isCounted: true })
  }

  #mark(key: string, priority: number, mark: Omit<Mark, 'label' | 'priority'>): void {
    const label = this.#isAlone ? this.#meters.enter(priority) : ''
    if (!this.#isAlone && this.#marks.size >= sharedMarksMax) this.#dropOldest()
    this.#marks.set(key, { ...mark, label, priority })
  }

  /**
   * Drops the oldest half at once. Dropping one entry per add took longer than the rest of the add: the
   * first entry of a map is found by walking over all that were deleted before it.
   */
  #dropOldest(): void {
    for (const oldest of this.#marks.keys()) {
      if (this.#marks.size <= sharedMarksMax / 2) break
      this.#marks.delete(oldest)
    }
  }

  #unmark(key: string): Mark | undefined {
    const mark = this.#marks.get(key)
    if (mark === undefined) return undefined
    this.#marks.delete(key)
    if (this.#isAlone) this.#meters.leave(mark.label)
    return mark
  }

  /** The priority of a counted key has risen. */
  #raise(mark: Mark, priority: number): void {
    if (priority <= mark.priority) return
    mark.priority = priority
    if (!this.#isAlone) return
    this.#meters.leave(mark.label)
    mark.label = this.#meters.enter(priority)
  }

  #delay(key: string, dueAt: EpochMs, priority: number): void {
    if (!this.#isAlone || dueAt === never) return
    // A moved run keeps the highest priority of its adds.
    const known = this.#later.get(key)?.priority ?? priority
    this.#later.set({ key, dueAt, priority: Math.max(priority, known) })
  }

  asked(ask: Ask, reply: AskReply | Failure, { dedupe }: AskOptions, moment: Moment): void {
    if (reply.outcome === 'failed' || reply.outcome === 'full') return
    this.#dedupe = dedupe
    const delayMs = askDelayMs(ask, reply)
    // An addAfter has a mode for merging with the pending run; an add has none.
    const isRetry = ask.failed === true || delayMs > 0 || 'maxWaitMs' in ask
    if (isRetry) this.#meters.retries.inc()
    if (ask.failed === true) this.#meters.limiterDelay.observe(secondsOf(delayMs))
    if (reply.outcome === 'unchanged') this.#meters.deduplicated.inc()
    this.promote(moment)
    if (reply.outcome === 'parked') this.#askedParked(ask, reply, delayMs, dedupe, moment)
    else if (delayMs > 0) this.#askedLater(ask, reply, delayMs, dedupe, moment)
    else this.#askedNow(ask, reply, dedupe, moment)
  }

  #askedNow(
    { key, priority }: Ask,
    { outcome, dueAt }: AskReply,
    dedupe: AskOptions['dedupe'],
    { now, monotonicMs }: Moment,
  ): void {
    if (outcome === 'unchanged') return
    const mark = this.#marks.get(key)
    // A higher priority does not change the due time; a key that is brought forward is due now.
    const wasDue = this.#isAlone
      ? mark !== undefined
      : dedupe !== 'earliest' || mark?.dueAt === dueAt || dueAt < now - dueBeforeMs
    if (outcome === 'moved' && wasDue) {
      if (mark !== undefined) this.#raise(mark, priority)
      return
    }
    this.#unmark(key)
    const later = this.#later.get(key)?.priority ?? priority
    const highest = Math.max(priority, later, mark?.priority ?? priority)
    if (dedupe === 'earliest') this.#later.delete(key)
    // A delayed run that became due between the store's answer and now merges with this one.
    if (this.#isAlone && mark !== undefined) {
      this.#mark(key, highest, { since: monotonicMs, dueAt, isCounted: true })
    } else this.#enter(key, highest, monotonicMs, dueAt)
  }

  #askedLater(
    { key, priority }: Ask,
    { outcome, dueAt }: AskReply,
    delayMs: number,
    dedupe: AskOptions['dedupe'],
    { now }: Moment,
  ): void {
    if (outcome === 'unchanged') return
    const mark = this.#marks.get(key)
    if (mark === undefined) {
      this.#delay(key, dueAt, priority)
      return
    }
    // The reply describes the run that is due already. The move is a higher priority, or a second
    // run that is earlier than before.
    this.#raise(mark, priority)
    if (dedupe === 'client-go') this.#delaySecond(key, now + delayMs, priority)
  }

  /** A second run, unless there is an earlier one. */
  #delaySecond(key: string, laterAt: EpochMs, priority: number): void {
    const isPromised = (this.#later.get(key)?.dueAt ?? never) <= laterAt
    if (!isPromised) this.#delay(key, laterAt, priority)
  }

  /** The run of a parked key waits until it is unparked. An add answers so for a key that is not held. */
  #askedParked(
    { key, priority }: Ask,
    { dueAt }: AskReply,
    delayMs: number,
    dedupe: AskOptions['dedupe'],
    { now }: Moment,
  ): void {
    if (!this.#isAlone) return
    const known = this.#parked.get(key) ?? { dueAt, laterAt: never, priority }
    const secondAt = Math.max(known.dueAt, now + delayMs)
    const isSecond = dedupe === 'client-go' && dueAt <= now && secondAt > now
    const laterAt = isSecond ? Math.min(known.laterAt, secondAt) : known.laterAt
    this.#parked.set(key, { key, dueAt, laterAt, priority: Math.max(priority, known.priority) })
  }

  /** Drops a second run that may have merged: if it has not, the finish of the run before it reports it. */
  #dropMerged(key: string, now: EpochMs): void {
    const second = this.#later.get(key)
    if (second !== undefined && second.dueAt - now < secondRunMsMin) this.#later.delete(key)
  }

  #isHeld(key: string): boolean {
    for (const running of this.#running.values()) if (running.key === key) return true
    return false
  }

  /** A run is pending: now or later. */
  #pend({ key, dueAt, priority }: DelayedKey, { now, monotonicMs }: Moment): void {
    if (dueAt > now) this.#delay(key, dueAt, priority)
    else this.#enter(key, priority, monotonicMs, dueAt)
  }

  /** `forWorker`: the wait ends when the worker calls its handler; otherwise now. */
  claimed(claim: SeenClaim, holder: string, moment: Moment, forWorker: boolean): void {
    this.promote(moment)
    const { key, token, priority, askedAt, readyAt } = claim
    const { now, monotonicMs } = moment
    this.#dropMerged(key, now)
    const found = this.#unmark(key)
    // An entry older than the run was claimed by another process, and the key was added again.
    const mark =
      found !== undefined && (this.#isAlone || askedAt <= found.dueAt) ? found : undefined
    const addedAt = mark?.since ?? monotonicMs - (now - (mark?.dueAt ?? readyAt ?? askedAt))
    const running: Running = {
      key,
      holder,
      priority,
      since: monotonicMs,
      hasReturned: false,
      addedAt,
      isWaiting: true,
    }
    this.#running.set(token, running)
    if (!this.#wasCounted(claim, mark)) this.#meters.adds.inc()
    if (!forWorker) this.#waited(running)
  }

  /** The wait of a key has ended, once, at the instant since when it is worked on. */
  #waited(running: Running): void {
    if (!running.isWaiting) return
    running.isWaiting = false
    this.#meters.latency.observe(secondsOf(running.since - running.addedAt))
  }

  /** Whether the add was counted already: the key did not become due by time. */
  #wasCounted({ askedAt, readyAt }: SeenClaim, mark: Mark | undefined): boolean {
    if (mark !== undefined) return mark.isCounted || askedAt === mark.dueAt
    return !this.#isAlone && askedAt === readyAt
  }

  /** A worker calls the handler of a key, which it may have claimed ahead. */
  runStarted(token: number, monotonicMs: number): void {
    const running = this.#running.get(token)
    if (running === undefined) return
    running.since = monotonicMs
    this.#waited(running)
  }

  /** The work on a key has ended, once: its handler has returned, or it is finished without one. */
  runEnded(token: number, monotonicMs: number): void {
    const running = this.#running.get(token)
    if (running === undefined || running.hasReturned) return
    running.hasReturned = true
    this.#meters.workDuration.observe(secondsOf(monotonicMs - running.since))
  }

  finished(
    finish: Finish,
    reply: FinishReply | Failure,
    dedupe: AskOptions['dedupe'],
    moment: Moment,
  ): void {
    if (reply.outcome === 'failed') return
    const { key, token } = finish
    const { now, monotonicMs } = moment
    const running = this.#running.get(token)
    // `get` has handed it out, in a process that has a worker too; a release gives it back before a handler was called.
    if (running !== undefined && finish.as !== 'release') this.#waited(running)
    // Nothing has worked on a key that was claimed ahead of a free slot, and is given back.
    if (running?.isWaiting !== true) this.runEnded(token, monotonicMs)
    this.#running.delete(token)
    if (reply.outcome === 'lost') return
    if (finish.as === 'retry') {
      this.#meters.retries.inc()
      this.#meters.limiterDelay.observe(secondsOf(retryDelayMs(finish, reply, now)))
    }
    const again = finish.as === 'done' ? finish.again : undefined
    if (again !== undefined && again.delayMs > 0) this.#meters.retries.inc()
    this.promote(moment)
    const given = finish.as === 'retry' ? finish.priority : again?.priority
    const priority = given ?? running?.priority ?? 0
    // A delayed run of a key that is given back merges with the run that is put back.
    if (dedupe === 'earliest' && (finish.as === 'release' || finish.as === 'park'))
      this.#later.delete(key)
    if (reply.outcome === 'delayed') this.#delay(key, reply.dueAt, priority)
    if (reply.outcome === 'parked') this.#park(key, reply.dueAt, priority)
    if (reply.outcome === 'idle' && this.#isAlone) this.cancelled(key)
    if (reply.outcome !== 'ready') return
    this.#dropMerged(key, now)
    // The reply describes the run that is due already; the one that this finish requests is a second run.
    const againMs = secondRunMs(finish, reply, now)
    if (againMs > 0 && dedupe === 'client-go') this.#delaySecond(key, now + againMs, priority)
    if (this.#marks.has(key)) return
    const { dueAt } = reply
    if (finish.as === 'release') {
      this.#mark(key, priority, { since: running?.addedAt ?? monotonicMs, dueAt, isCounted: true })
    } else if (this.#isAlone) {
      this.#enter(key, priority, monotonicMs - Math.max(0, now - dueAt), dueAt)
    } else {
      this.#mark(key, priority, { since: undefined, dueAt, isCounted: false })
    }
  }

  /** An operator took a key from its holder, which may be in another process. */
  released(key: string, token: number, reply: FinishReply, moment: Moment): void {
    if (!this.#isAlone && !this.#running.has(token)) return
    this.finished({ as: 'release', key, token }, reply, this.#dedupe, moment)
  }

  /** A lease is lost, or a Held was dropped: its run is no longer counted as running. */
  lost(token: number): void {
    this.#running.delete(token)
  }

  expired(
    leases: readonly Lease[],
    outcomes: readonly (ExpireOutcome | Failure)[],
    { now }: Moment,
  ): void {
    leases.forEach(({ key, token }, index) => {
      const outcome = outcomes[index]
      if (outcome !== 'expired' && outcome !== 'parked') return
      this.#running.delete(token)
      if (outcome === 'parked') this.parked(key, now)
      this.#meters.leaseExpirations.inc()
    })
  }

  /** A key has no pending run any more. */
  cancelled(key: string): void {
    this.#parked.delete(key)
    this.#unmark(key)
    this.#later.delete(key)
  }

  /** A key was parked. A held one is parked when it is given back. `lostAt`: its run was lost. */
  parked(key: string, lostAt: EpochMs = never): void {
    if (this.#isAlone && this.#isHeld(key)) return
    const run = this.#marks.get(key) ?? this.#later.get(key)
    this.#park(key, run?.dueAt ?? lostAt, run?.priority ?? 0)
  }

  #park(key: string, dueAt: EpochMs, priority: number): void {
    const mark = this.#unmark(key)
    const second = this.#later.get(key)?.dueAt ?? never
    this.#later.delete(key)
    if (!this.#isAlone || dueAt === never) return
    const laterAt = second > dueAt ? second : never
    this.#parked.set(key, { key, dueAt, laterAt, priority: mark?.priority ?? priority })
  }

  /** A key was unparked: its pending run is ready from now on, or later. */
  unparked(key: string, moment: Moment): void {
    const run = this.#parked.get(key)
    this.#parked.delete(key)
    if (run === undefined) return
    this.#pend(run, moment)
    if (run.dueAt <= moment.now) this.#delay(key, run.laterAt, run.priority)
  }

  /** The delay of a key was ended by an operator. */
  ranNow(key: string, { now, monotonicMs }: Moment): void {
    const parked = this.#parked.get(key)
    if (parked !== undefined) this.#parked.set(key, { ...parked, dueAt: now })
    const later = this.#later.get(key)
    this.#later.delete(key)
    if (!this.#isAlone || parked !== undefined || this.#marks.has(key)) return
    this.#enter(key, later?.priority ?? 0, monotonicMs, now)
  }

  /** No key has a pending run any more. */
  purged(): void {
    for (const key of [...this.#marks.keys()]) this.#unmark(key)
    this.#later.clear()
    this.#parked.clear()
  }

  /** A queue object was closed: its held keys are no longer running. */
  closed(holder: string): void {
    for (const [token, run] of this.#running) if (run.holder === holder) this.#running.delete(token)
  }

  /** Since when each running key is worked on, on the monotonic clock. */
  *startTimes(): Generator<number> {
    for (const { since, hasReturned } of this.#running.values()) if (!hasReturned) yield since
  }
}
