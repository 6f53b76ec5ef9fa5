import {
  type AddOutcome,
  type Ask,
  type AskOptions,
  type AskReply,
  type Claim,
  type DirectClaim,
  type DirectQueue,
  type DueReason,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type ForgetOutcome,
  never as neverImported,
  SluiceError,
  transitions,
} from '@sluice/core/driver'
import { list as listImported, noRow as noRowImported } from './rows/row-links.ts'
import { RowStore } from './rows/row-store.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noRow = noRowImported
const list = listImported
const tokenMax = Number.MAX_SAFE_INTEGER

/**
 * The verbs of a direct queue: each finds the row of its key, lets the transitions change it, and
 * moves it to the list of its new state.
 */
export class DirectVerbs extends RowStore implements DirectQueue {
  /** The row of the last add that was known to be a no-op. */
  private lastNoOp: number = noRow
  /** The row after it, if adds follow the order of rows: it is tried without a look-up. */
  private likelyNext: number = noRow
  /** The row of the last claim without a lease. */
  private lastClaimed: number = noRow

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
    this.advanceTo(now)
    if (now >= this.sweepAt) this.sweepWithAdd(options.failuresExpireMs, now)
    const row = this.index.find(key)
    if (row === noRow) return this.addNew(key, item, now, 'add', priority, 0, now)
    return this.addKnown(row, key, item, priority, options, now)
  }

  private addKnown(
    row: number,
    key: string,
    item: string | undefined,
    priority: number,
    options: Omit<AskOptions, 'maxPending'>,
    now: EpochMs,
  ): AddOutcome {
    this.seq += 1
    if (this.links.isNoOp(row, priority) && item === undefined && !this.table.hasItems) {
      this.likelyNext = row === this.lastNoOp + 1 ? row + 1 : noRow
      this.lastNoOp = row
      return 'unchanged'
    }
    this.cursor.at(row)
    return this.askFor({ key, item, priority, delayMs: 0 }, 0, options, now)
  }

  isNoOp(key: string, priority: number): boolean {
    let row = this.likelyNext
    const { table } = this
    if (row === noRow || table.hasItems) return false
    if (row >= table.used || table.keyAt(row) !== key) row = this.index.find(key)
    const isNoOp = row !== noRow && this.links.isNoOp(row, priority)
    this.lastNoOp = row
    this.likelyNext = isNoOp ? row + 1 : noRow
    return isNoOp
  }

  ask(request: Ask, options: AskOptions): AskReply {
    const { plan } = request
    const { buckets, time } = this.store
    // A delay is counted from the exact time; a run that is due now may be due a little earlier.
    const now = plan === undefined && !(request.delayMs > 0) ? time.coarse() : time.exact()
    this.advanceTo(now)
    if (now >= this.sweepAt) this.sweepWithAdd(options.failuresExpireMs, now)
    const { cursor } = this
    const { key, trace } = request
    const row = this.index.find(key)
    if (row !== noRow) cursor.at(row)
    const { maxPending } = options
    if (maxPending !== undefined && this.pending >= maxPending) {
      if (row === noRow || cursor.dueAt === never) {
        return { outcome: 'full', dueAt: never, failures: this.countedFailures(row, options, now) }
      }
    }
    const plannedMs =
      plan === undefined
        ? undefined
        : buckets.delay(plan, this.countedFailures(row, options, now), request.jitter, now)
    const delayMs = plannedMs ?? request.delayMs
    if (row === noRow && trace === undefined) {
      const { failed, item, maxWaitMs, priority } = request
      const failures = failed === true ? 1 : 0
      const dueAt = delayMs > 0 ? now + delayMs : now
      const delayedBy = failed === true && maxWaitMs === undefined ? 'backoff' : 'delay'
      const why = delayMs > 0 ? delayedBy : 'add'
      const outcome = this.addNew(key, item, dueAt, why, priority, failures, now)
      if (plannedMs === undefined) return { outcome, dueAt, failures }
      buckets.charge()
      return { outcome, dueAt, failures, plannedMs }
    }
    if (row === noRow) cursor.atNew(this.create(key), key)
    const outcome = this.askFor(request, delayMs, options, now)
    if (plannedMs !== undefined && outcome !== 'unchanged') buckets.charge()
    const { dueAt, failures } = cursor
    return plannedMs === undefined
      ? { outcome, dueAt, failures }
      : { outcome, dueAt, failures, plannedMs }
  }

  claim(into: DirectClaim, holder: string, dueBy: EpochMs): boolean {
    if (this.leases.size > 0) {
      // Only the claim of the driver reports expired leases.
      if (this.leases.firstAt <= this.store.time.exact()) return false
    }
    const { cursor, store } = this
    const row = this.nextRow(store.time.coarse())
    if (row === noRow) return false
    if (this.heldCount === 0) cursor.plainHolder = holder
    const isPlain = cursor.isPlain(row) && holder === cursor.plainHolder
    if (isPlain && cursor.dueAtOf(row) <= dueBy && store.lastToken < tokenMax) {
      this.readyRows.remove(row)
      this.heldCount += 1
      this.pending -= 1
      store.lastToken += 1
      this.lastClaimed = row
      cursor.claimPlain(row, store.lastToken, into)
      return true
    }
    if (!this.takeRow(row, holder, never, dueBy, true)) return false
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
    const { time } = this.store
    const row = this.nextRow(leaseMs === never ? time.coarse() : time.exact())
    return row !== noRow && this.takeRow(row, holder, leaseMs, dueBy, isFirst)
  }

  /** The next row to be claimed. */
  private nextRow(now: EpochMs): number {
    if (this.isPaused) return noRow
    this.advanceTo(now)
    if (this.readyRows.size === 0) {
      if (this.delayedCount === 0) return noRow
      this.advanceTo(this.store.time.exact())
    }
    return this.readyRows.peek()
  }

  private takeRow(
    next: number,
    holder: string,
    leaseMs: number,
    dueBy: EpochMs,
    isFirst: boolean,
  ): boolean {
    const { cursor, latest: now, store } = this
    let row = next
    cursor.at(row)
    if (cursor.dueAt > dueBy) {
      row = this.readyRows.pick(dueBy)
      if (row === noRow) return false
      cursor.at(row)
    }
    const isLastToken = store.lastToken >= tokenMax
    if (!isFirst && (cursor.crashes > 0 || isLastToken)) return false
    if (isLastToken) throw new SluiceError('ERR_STORE', 'cannot claim: no greater token is left')
    this.readyRows.remove(row)
    this.heldCount += 1
    store.lastToken += 1
    this.seq += 1
    transitions.claim(cursor, store.lastToken, now + leaseMs, now, this.seq)
    cursor.holder = holder
    cursor.isDirty = true
    if (leaseMs !== never) this.leases.add(row, cursor.leaseUntil, cursor.token)
    if (cursor.dueAt === never) this.pending -= 1
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
      trace: cursor.claimedTrace,
    }
  }

  readyAt(handle: number, token: number): EpochMs {
    const { cursor } = this
    cursor.at(handle)
    return cursor.token === token ? cursor.claimedReadyAt : never
  }

  trace(handle: number, token: number): string | undefined {
    const { cursor } = this
    cursor.at(handle)
    return cursor.token === token ? cursor.claimedTrace : undefined
  }

  done(handle: number, token: number, forget: boolean): FinishOutcome {
    const { cursor } = this
    if (cursor.isPlain(handle) && cursor.endsPlain(handle, token, forget)) {
      this.heldCount -= 1
      this.delete(handle)
      return 'idle'
    }
    cursor.at(handle)
    let now = this.latest
    if (cursor.dueAt !== never) {
      // Only a key that was added again becomes ready, for which the time matters.
      now = this.store.time.coarse()
      this.advanceTo(now)
      cursor.at(handle)
    }
    this.seq += 1
    const outcome = transitions.done(cursor, token, forget, now, this.seq)
    if (outcome !== 'lost') this.afterRelease(now)
    return outcome
  }

  finish(handle: number, request: Finish, options: AskOptions): FinishReply {
    const isDelayed =
      request.as === 'retry' || (request.as === 'done' && request.again !== undefined)
    const now = isDelayed ? this.store.time.exact() : this.store.time.coarse()
    this.advanceTo(now)
    const { cursor } = this
    cursor.at(handle)
    const dueBefore = cursor.dueAt
    const outcome = this.finishKey(request, options, now)
    if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
    const { dueAt, failures } = cursor
    if (dueBefore === never && dueAt !== never) this.pending += 1
    this.afterRelease(now)
    return { outcome, dueAt, failures }
  }

  forget(key: string): ForgetOutcome {
    // Nearly always that of a key whose run is about to end.
    const { cursor, lastClaimed, table } = this
    const row = table.keyAt(lastClaimed) === key ? lastClaimed : this.index.find(key)
    if (row === noRow) return 'unchanged'
    if (this.links.listOf(row) === list.held && cursor.isPlain(row)) {
      return cursor.forgetPlain(row) ? 'forgotten' : 'unchanged'
    }
    cursor.at(row)
    const outcome = transitions.forget(cursor)
    if (outcome === 'unchanged') return outcome
    cursor.isDirty = true
    // Failures can be all that is left of a key only while it is idle.
    if (this.links.listOf(row) === list.idle) this.relist(this.latest)
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

  /** Adds a key of which nothing is stored. */
  private addNew(
    key: string,
    item: string | undefined,
    dueAt: EpochMs,
    why: DueReason,
    priority: number,
    failures: number,
    now: EpochMs,
  ): AddOutcome {
    const { cursor } = this
    const row = this.create(key)
    this.seq += 1
    this.pending += 1
    this.table.setItem(row, item)
    if (dueAt > now) {
      cursor.addPlain(row, dueAt, why, priority, failures, now, this.seq)
      this.delay(row, dueAt, this.seq)
      return 'added'
    }
    if (cursor.row === noRow && why === 'add' && failures === 0) {
      // Nothing else is worked on: the key will probably be claimed and done next.
      cursor.atNew(row, key)
      transitions.setPending(cursor, now, 'add', priority, now, this.seq)
    } else cursor.addPlain(row, dueAt, why, priority, failures, now, this.seq)
    this.readyRows.add(row, priority, dueAt, this.seq)
    return 'added'
  }

  /** Adds the key of the cursor's row. */
  private askFor(request: Ask, delayMs: number, options: AskOptions, now: EpochMs): AddOutcome {
    const { cursor } = this
    const dueBefore = cursor.dueAt
    this.seq += 1
    const outcome = transitions.ask(cursor, request, delayMs, options, now, this.seq)
    cursor.isDirty = true
    this.table.setItem(cursor.row, request.item)
    if (dueBefore === never) this.pending += 1
    if (outcome !== 'unchanged') this.relist(now)
    else if (!(delayMs > 0) && this.links.listOf(cursor.row) === list.ready) {
      if (this.readyRows.needsTouch) this.readyRows.touch(cursor.row)
      else if (cursor.laterAt === never) this.links.markNoOp(cursor.row, cursor.priority)
    }
    return outcome
  }

  private finishKey(request: Finish, options: AskOptions, now: EpochMs): FinishOutcome {
    const { cursor } = this
    const { buckets } = this.store
    const delayMs = buckets.delayOf(request, cursor.failures, now)
    this.seq += 1
    const outcome = transitions.finish(cursor, request, delayMs, options, now, this.seq)
    if (outcome === 'lost') return outcome
    buckets.charge()
    const error = transitions.errorOf(request)
    if (error !== undefined) this.table.setError(cursor.row, error)
    return outcome
  }
}
