import {
  type AddOutcome,
  type Ask,
  type AskOptions,
  type AskReply,
  type Claim,
  type DirectClaim,
  type DirectQueue,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type ForgetOutcome,
  never as neverImported,
  SluiceError,
  transitions,
} from '@sluice/core'
import { noRow as noRowImported, place as placeImported } from './rows/row-links.ts'
import { KeptRows } from './rows/row-store.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noRow = noRowImported
const place = placeImported

const askNow = { item: undefined, priority: 0, delayMs: 0 }

/**
 * The hot verbs of one queue in memory: find the row, have the transitions change it, and keep it
 * where it then belongs.
 */
export class QueueDoor extends KeptRows implements DirectQueue {
  /** The row of the last add that changed nothing because it was settled. */
  private lastSettled: number = noRow
  /** The row after it, if that add was of the row after the one before. */
  private likely: number = noRow

  now(): EpochMs {
    return this.store.time.exact()
  }

  add(
    key: string,
    item: string | undefined,
    priority: number,
    options: Omit<AskOptions, 'maxPending'>,
  ): AddOutcome {
    const now = this.store.time.coarse()
    this.bringUpTo(now)
    if (now >= this.sweepAt) this.sweepAlong(options.failuresExpireMs, now)
    const { cursor, table } = this
    const row = this.index.find(key)
    this.seq += 1
    if (row === noRow) {
      this.begin(key)
      const outcome = transitions.add(cursor, priority, options.dedupe, now, this.seq)
      table.setItem(cursor.row, item)
      this.owed += 1
      this.put(now)
      return outcome
    }
    if (this.links.isSettled(row, priority) && item === undefined && !table.hasItems) {
      this.likely = row === this.lastSettled + 1 ? row + 1 : noRow
      this.lastSettled = row
      return 'unchanged'
    }
    cursor.at(row)
    if (cursor.failedAt !== never) {
      return this.askFor({ ...askNow, key, item, priority }, 0, options, now)
    }
    const { dueAt, laterAt } = cursor
    const outcome = transitions.add(cursor, priority, options.dedupe, now, this.seq)
    table.setItem(row, item)
    if (outcome !== 'unchanged') {
      if (dueAt === never) this.owed += 1
      this.keep(now)
      return outcome
    }
    if (laterAt !== never) cursor.isDirty = true
    if (this.links.placeOf(row) === place.line) {
      if (this.line.isTold) this.line.touch()
      else if (laterAt === never) this.links.settle(row, priority)
    }
    return outcome
  }

  isMoot(key: string, priority: number): boolean {
    let row = this.likely
    const { table } = this
    if (row === noRow || table.hasItems) return false
    if (row >= table.used || table.keyAt(row) !== key) row = this.index.find(key)
    const isMoot = row !== noRow && this.links.isSettled(row, priority)
    this.lastSettled = row
    this.likely = isMoot ? row + 1 : noRow
    return isMoot
  }

  ask(request: Ask, options: AskOptions): AskReply {
    const { plan } = request
    const { shelf, time } = this.store
    // What is due later is due exactly then; for what is due now a little earlier is no matter.
    const now = plan === undefined && !(request.delayMs > 0) ? time.coarse() : time.exact()
    this.bringUpTo(now)
    if (now >= this.sweepAt) this.sweepAlong(options.failuresExpireMs, now)
    const { cursor } = this
    const row = this.index.find(request.key)
    if (row !== noRow) cursor.at(row)
    const { maxPending } = options
    if (maxPending !== undefined && this.owed >= maxPending) {
      if (row === noRow || cursor.dueAt === never) {
        return { outcome: 'full', dueAt: never, failures: this.countedFailures(row, options, now) }
      }
    }
    if (plan === undefined) {
      if (row === noRow) this.begin(request.key)
      const outcome = this.askFor(request, request.delayMs, options, now)
      return { outcome, dueAt: cursor.dueAt, failures: cursor.failures }
    }
    const failures = this.countedFailures(row, options, now)
    const plannedMs = shelf.delay(plan, failures, request.jitter ?? 0, now)
    if (row === noRow) this.begin(request.key)
    const outcome = this.askFor(request, plannedMs, options, now)
    if (outcome !== 'unchanged') shelf.charge()
    return { outcome, dueAt: cursor.dueAt, failures: cursor.failures, plannedMs }
  }

  claim(into: DirectClaim, holder: string, dueBy: EpochMs): boolean {
    if (this.leases.size > 0) {
      // Leases that are over must be reported, which takes the longer way.
      if (this.leases.firstAt <= this.store.time.exact()) return false
    }
    if (!this.take(holder, never, dueBy, true)) return false
    const { cursor } = this
    into.key = cursor.key
    into.itemText = this.table.itemAt(cursor.row)
    into.token = cursor.token
    into.handle = cursor.row
    into.failures = cursor.failures
    into.crashes = cursor.crashes
    into.priority = cursor.claimedPriority
    into.askedAt = cursor.claimedAskedAt
    return true
  }

  /**
   * Claims the next key, and leaves the cursor on it; false if there is none. A key that has
   * crashed is handed out only if `isFirst` of a batch.
   */
  take(holder: string, leaseMs: number, dueBy: EpochMs, isFirst: boolean): boolean {
    if (this.isPaused) return false
    const { cursor, store } = this
    let now = leaseMs === never ? store.time.coarse() : store.time.exact()
    this.bringUpTo(now)
    if (this.line.size === 0) {
      if (this.delayed.size === 0) return false
      now = store.time.exact()
      this.bringUpTo(now)
    }
    let row = this.line.peek()
    if (row === noRow) return false
    cursor.at(row)
    if (cursor.dueAt > dueBy) {
      row = this.line.pick(dueBy)
      if (row === noRow) return false
      cursor.at(row)
    }
    const isLastToken = store.lastToken >= Number.MAX_SAFE_INTEGER
    if (!isFirst && (cursor.crashes > 0 || isLastToken)) return false
    if (isLastToken) throw new SluiceError('ERR_STORE', 'cannot claim: no greater token is left')
    this.line.remove()
    this.heldCount += 1
    store.lastToken += 1
    this.seq += 1
    transitions.claim(cursor, store.lastToken, now + leaseMs, now, this.seq)
    cursor.holder = holder
    cursor.isDirty = true
    if (leaseMs !== never) this.leases.add(row, cursor.leaseUntil, cursor.token)
    if (cursor.dueAt === never) this.owed -= 1
    return true
  }

  /** What the last {@link take} took. */
  taken(): Claim {
    const { cursor } = this
    return {
      key: cursor.key,
      item: this.table.itemAt(cursor.row),
      token: cursor.token,
      failures: cursor.failures,
      crashes: cursor.crashes,
      priority: cursor.claimedPriority,
      askedAt: cursor.claimedAskedAt,
      readyAt: cursor.claimedReadyAt,
      leaseUntil: cursor.leaseUntil,
    }
  }

  readyAt(handle: number, token: number): EpochMs {
    const { cursor } = this
    cursor.at(handle)
    return cursor.token === token ? cursor.claimedReadyAt : never
  }

  done(handle: number, token: number, forget: boolean): FinishOutcome {
    const { cursor } = this
    cursor.at(handle)
    let now = this.latest
    if (cursor.dueAt !== never) {
      // Only a key that was asked for again takes a place in line, for which the time matters.
      now = this.store.time.coarse()
      this.bringUpTo(now)
      cursor.at(handle)
    }
    this.seq += 1
    const outcome = transitions.done(cursor, token, forget, now, this.seq)
    if (outcome !== 'lost') this.letGo(now)
    return outcome
  }

  finish(handle: number, request: Finish, options: AskOptions): FinishReply {
    const now = request.as === 'retry' ? this.store.time.exact() : this.store.time.coarse()
    this.bringUpTo(now)
    const { cursor } = this
    cursor.at(handle)
    const dueBefore = cursor.dueAt
    const outcome = this.settle(request, options, now)
    if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
    const { dueAt, failures } = cursor
    if (dueBefore === never && dueAt !== never) this.owed += 1
    this.letGo(now)
    return { outcome, dueAt, failures }
  }

  forget(key: string): ForgetOutcome {
    const row = this.index.find(key)
    if (row === noRow) return 'unchanged'
    const { cursor } = this
    cursor.at(row)
    const outcome = transitions.forget(cursor)
    if (outcome === 'unchanged') return outcome
    cursor.isDirty = true
    // Failures can be all that is left of a key only while it is idle.
    if (this.links.placeOf(row) === place.idle) this.keep(this.latest)
    return outcome
  }

  failures(key: string, failuresExpireMs: number): number {
    const row = this.index.find(key)
    if (row !== noRow) this.cursor.at(row)
    return this.countedFailures(row, { failuresExpireMs }, this.store.time.coarse())
  }

  private countedFailures(
    row: number,
    { failuresExpireMs }: Pick<AskOptions, 'failuresExpireMs'>,
    now: EpochMs,
  ): number {
    if (row === noRow) return 0
    return transitions.countedFailures(this.cursor, now, failuresExpireMs)
  }

  private askFor(request: Ask, delayMs: number, options: AskOptions, now: EpochMs): AddOutcome {
    const { cursor } = this
    const dueBefore = cursor.dueAt
    this.seq += 1
    const outcome = transitions.ask(cursor, request, delayMs, options, now, this.seq)
    cursor.isDirty = true
    this.table.setItem(cursor.row, request.item)
    if (dueBefore === never) this.owed += 1
    if (outcome !== 'unchanged') this.keep(now)
    else if (this.line.isTold && this.links.placeOf(cursor.row) === place.line && !(delayMs > 0)) {
      this.line.touch()
    }
    return outcome
  }

  private settle(request: Finish, options: AskOptions, now: EpochMs): FinishOutcome {
    const { cursor } = this
    const { token } = request
    const { dedupe } = options
    this.seq += 1
    const { seq } = this
    switch (request.as) {
      case 'done':
        return transitions.done(cursor, token, request.forget, now, seq)
      case 'release':
        return transitions.release(cursor, token, dedupe, now, seq)
      case 'park': {
        const { error } = request
        const outcome = transitions.parkHeld(cursor, token, error !== undefined, dedupe, now, seq)
        return this.noted(outcome, error)
      }
      case 'retry': {
        const { plan, jitter = 0 } = request
        const { shelf } = this.store
        const delayMs =
          plan === undefined ? request.delayMs : shelf.delay(plan, cursor.failures, jitter, now)
        const outcome = transitions.retry(cursor, token, delayMs, dedupe, now, seq)
        if (plan !== undefined && outcome !== 'lost') shelf.charge()
        return this.noted(outcome, request.error)
      }
    }
  }

  /** Keeps the error of a finish that was accepted. */
  private noted(outcome: FinishOutcome, error: string | undefined): FinishOutcome {
    if (outcome !== 'lost' && error !== undefined) this.table.setError(this.cursor.row, error)
    return outcome
  }
}
