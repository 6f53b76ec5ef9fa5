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
import { DueHeap } from './due-heap.ts'
import { askDelayMs, retryDelayMs } from './limiter-delay.ts'
import type { QueueMeters } from './queue-meters.ts'
import { secondsOf } from './seconds.ts'

/** How many keys of a shared store are remembered between their add and their claim. */
const sharedMarksMax = 10_000

/** A key that has been due for longer than any call takes was due before it was asked for again. */
const dueBeforeMs = 1_000

/** A moment by both clocks: the store's time, in which instants are given, and one that never jumps. */
export interface Moment {
  readonly now: EpochMs
  readonly monotonicMs: number
}

/** What a ledger reads of a claim. Those through the door of a driver have no `readyAt`. */
export interface SeenClaim {
  readonly key: string
  readonly token: number
  readonly priority: number
  readonly askedAt: EpochMs
  readonly readyAt?: EpochMs
}

/** A key that is in the dirty set of the original: ready, or asked for again while it is held. */
interface Mark {
  /** When it came in, on the monotonic clock; `undefined`: known by the store's time only. */
  readonly since: number | undefined
  readonly dueAt: EpochMs
  priority: number
  /** Under which priority it was counted into the depth. */
  label: string
  /** Whether the add was counted, here or by whoever made it. */
  readonly isCounted: boolean
}

interface Running {
  readonly key: string
  readonly holder: string
  readonly priority: number
  readonly since: number
  /** When the key had come into the queue; see {@link Mark.since}. */
  readonly addedAt: number | undefined
}

/**
 * What one queue of one store has done, kept by the rules of client-go: which keys are in its dirty
 * set, since when, and which are worked on.
 *
 * Where nobody but this process sees the keys, it is kept whole and is exact. Where others do, it
 * would be neither whole nor small; there a claim says what is needed, and what is remembered here,
 * of at most ten thousand keys, only makes it more exact.
 */
export class QueueLedger {
  readonly #meters: QueueMeters
  readonly #isAlone: boolean
  readonly #marks = new Map<string, Mark>()
  readonly #running = new Map<number, Running>()
  /** When keys that are delayed will be due, if nobody else could change it. */
  readonly #later = new DueHeap()

  constructor(meters: QueueMeters, isAlone: boolean) {
    this.#meters = meters
    this.#isAlone = isAlone
  }

  /** Counts in the keys whose delays are over. */
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
    if (!this.#isAlone && this.#marks.size >= sharedMarksMax) {
      const [oldest = ''] = this.#marks.keys()
      this.#marks.delete(oldest)
    }
    this.#marks.set(key, { ...mark, label, priority })
  }

  #unmark(key: string): Mark | undefined {
    const mark = this.#marks.get(key)
    if (mark === undefined) return undefined
    this.#marks.delete(key)
    if (this.#isAlone) this.#meters.leave(mark.label)
    return mark
  }

  /** A key that is counted in has risen to a priority. */
  #raise(mark: Mark, priority: number): void {
    if (priority <= mark.priority) return
    mark.priority = priority
    if (!this.#isAlone) return
    this.#meters.leave(mark.label)
    mark.label = this.#meters.enter(priority)
  }

  #delay(key: string, dueAt: EpochMs, priority: number): void {
    if (!this.#isAlone || dueAt === never) return
    // A run that is moved keeps the highest priority that it was asked for with.
    const known = this.#later.get(key)?.priority ?? priority
    this.#later.set({ key, dueAt, priority: Math.max(priority, known) })
  }

  asked(ask: Ask, reply: AskReply | Failure, { dedupe }: AskOptions, moment: Moment): void {
    if (reply.outcome === 'failed' || reply.outcome === 'full') return
    const delayMs = askDelayMs(ask, reply)
    // An addAfter says how it meets what is owed; an add never does.
    const isRetry = ask.failed === true || delayMs > 0 || 'maxWaitMs' in ask
    if (isRetry) this.#meters.retries.inc()
    if (ask.failed === true) this.#meters.limiterDelay.observe(secondsOf(delayMs))
    if (reply.outcome === 'unchanged') this.#meters.deduplicated.inc()
    this.promote(moment)
    if (reply.outcome === 'parked') return
    if (delayMs > 0) this.#askedLater(ask, reply, delayMs, dedupe, moment)
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
    // A higher priority leaves a key due when it was due; one that is brought forward is due now.
    const wasDue = this.#isAlone
      ? mark !== undefined
      : dedupe !== 'earliest' || mark?.dueAt === dueAt || dueAt < now - dueBeforeMs
    if (outcome === 'moved' && wasDue) {
      if (mark !== undefined) this.#raise(mark, priority)
      return
    }
    this.#unmark(key)
    const known = this.#later.get(key)?.priority ?? priority
    if (dedupe === 'earliest') this.#later.delete(key)
    this.#enter(key, Math.max(priority, known), monotonicMs, dueAt)
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
    // The reply speaks of the run that is due already. What it was moved by is the priority, or a
    // second promise that is earlier than the one there was.
    this.#raise(mark, priority)
    const laterAt = now + delayMs
    const isPromised = (this.#later.get(key)?.dueAt ?? never) <= laterAt
    if (dedupe === 'client-go' && !isPromised) this.#delay(key, laterAt, priority)
  }

  claimed(claim: SeenClaim, holder: string, moment: Moment): void {
    this.promote(moment)
    const { key, token, priority, askedAt, readyAt } = claim
    const { now, monotonicMs } = moment
    const found = this.#unmark(key)
    // One that is older than the run was claimed by somebody else, and the key was added anew.
    const mark =
      found !== undefined && (this.#isAlone || askedAt <= found.dueAt) ? found : undefined
    this.#running.set(token, { key, holder, priority, since: monotonicMs, addedAt: mark?.since })
    if (!this.#wasCounted(claim, mark)) this.#meters.adds.inc()
    const waitedMs =
      mark?.since === undefined
        ? now - (mark?.dueAt ?? readyAt ?? askedAt)
        : monotonicMs - mark.since
    this.#meters.latency.observe(secondsOf(waitedMs))
  }

  /** Whether somebody has counted the add already: it was not time that made the key due. */
  #wasCounted({ askedAt, readyAt }: SeenClaim, mark: Mark | undefined): boolean {
    if (mark !== undefined) return mark.isCounted || askedAt === mark.dueAt
    return !this.#isAlone && askedAt === readyAt
  }

  finished(finish: Finish, reply: FinishReply | Failure, moment: Moment): void {
    if (reply.outcome === 'failed') return
    const { key, token } = finish
    const { now, monotonicMs } = moment
    const running = this.#running.get(token)
    if (running !== undefined) {
      this.#running.delete(token)
      this.#meters.workDuration.observe(secondsOf(monotonicMs - running.since))
    }
    if (reply.outcome === 'lost') return
    if (finish.as === 'retry') {
      this.#meters.retries.inc()
      this.#meters.limiterDelay.observe(secondsOf(retryDelayMs(finish, reply, now)))
    }
    this.promote(moment)
    const priority = running?.priority ?? 0
    if (reply.outcome === 'delayed') this.#delay(key, reply.dueAt, priority)
    if (reply.outcome !== 'ready' || this.#marks.has(key)) return
    const { dueAt } = reply
    if (finish.as === 'release') {
      this.#mark(key, priority, { since: running?.addedAt ?? monotonicMs, dueAt, isCounted: true })
    } else if (this.#isAlone) {
      this.#enter(key, priority, monotonicMs - Math.max(0, now - dueAt), dueAt)
    } else {
      this.#mark(key, priority, { since: undefined, dueAt, isCounted: false })
    }
  }

  /** A lease is lost, or a Held was dropped: whoever worked on it is not waited for any more. */
  lost(token: number): void {
    this.#running.delete(token)
  }

  expired(leases: readonly Lease[], outcomes: readonly (ExpireOutcome | Failure)[]): void {
    leases.forEach(({ token }, index) => {
      const outcome = outcomes[index]
      if (outcome !== 'expired' && outcome !== 'parked') return
      this.#running.delete(token)
      this.#meters.leaseExpirations.inc()
    })
  }

  /** Nothing is owed to a key any more. */
  cancelled(key: string): void {
    this.#unmark(key)
    this.#later.delete(key)
  }

  /** A key is set aside; what it is owed it keeps. */
  parked(key: string): void {
    this.#unmark(key)
  }

  /** The delay of a key was ended by hand. */
  ranNow(key: string, { now, monotonicMs }: Moment): void {
    const later = this.#later.get(key)
    this.#later.delete(key)
    if (!this.#isAlone || this.#marks.has(key)) return
    this.#enter(key, later?.priority ?? 0, monotonicMs, now)
  }

  /** Nothing is owed to any key any more. */
  purged(): void {
    for (const key of [...this.#marks.keys()]) this.#unmark(key)
    this.#later.clear()
  }

  /** A queue object was closed: what it held is not worked on any more. */
  closed(holder: string): void {
    for (const [token, running] of this.#running) {
      if (running.holder === holder) this.#running.delete(token)
    }
  }

  /** When each key that is worked on was taken, on the monotonic clock. */
  *startTimes(): Generator<number> {
    for (const { since } of this.#running.values()) yield since
  }
}
