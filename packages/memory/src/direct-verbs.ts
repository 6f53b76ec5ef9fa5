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
import type { RowState } from './rows/row-states.ts'
import { RowStore } from './rows/row-store.ts'
import { text } from './rows/row-table.ts'

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
  /** The row of the last claim. */
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
    if (this.links.isNoOp(row, priority) && item === undefined && !this.table.hasItems) {
      this.likelyNext = row === this.lastNoOp + 1 ? row + 1 : noRow
      this.lastNoOp = row
      return 'unchanged'
    }
    const request = { key, item, priority, delayMs: 0 }
    return this.askFor(row, this.states.read(row), request, 0, options, now)
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
    const { key, trace } = request
    const { maxPending } = options
    const found = this.index.find(key)
    const known = found === noRow ? undefined : this.states.read(found)
    if (maxPending !== undefined && this.pending >= maxPending) {
      if (known === undefined || known.dueAt === never) {
        return { outcome: 'full', dueAt: never, failures: countedFailures(known, options, now) }
      }
    }
    const plannedMs =
      plan === undefined
        ? undefined
        : buckets.delay(plan, countedFailures(known, options, now), request.jitter, now)
    const delayMs = plannedMs ?? request.delayMs
    if (known === undefined && trace === undefined) {
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
    const row = known === undefined ? this.createEmpty(key) : found
    const state = known ?? this.states.read(row)
    const outcome = this.askFor(row, state, request, delayMs, options, now)
    if (plannedMs !== undefined && outcome !== 'unchanged') buckets.charge()
    const { dueAt, failures } = state
    return plannedMs === undefined
      ? { outcome, dueAt, failures }
      : { outcome, dueAt, failures, plannedMs }
  }

  claim(into: DirectClaim, holder: string, dueBy: EpochMs): boolean {
    if (this.leases.size > 0) {
      // Only the claim of the driver reports expired leases.
      if (this.leases.firstAt <= this.store.time.exact()) return false
    }
    const { states, store } = this
    const row = this.nextRow(store.time.coarse(), holder)
    if (row === noRow) return false
    const isPlain = states.isPlain(row) && holder === states.usualHolder
    if (isPlain && states.dueAtOf(row) <= dueBy && store.lastToken < tokenMax) {
      this.readyRows.remove(row)
      this.heldCount += 1
      this.pending -= 1
      store.lastToken += 1
      this.lastClaimed = row
      states.claimPlain(row, store.lastToken, into)
      return true
    }
    const claimed = this.takeRow(row, holder, never, dueBy, true)
    if (claimed === undefined) return false
    into.key = this.table.keyAt(this.lastClaimed)
    into.itemText = this.table.itemAt(this.lastClaimed)
    into.token = claimed.token
    into.handle = this.lastClaimed
    into.failures = claimed.failures
    into.crashes = claimed.crashes
    into.priority = claimed.claimedPriority
    into.askedAt = claimed.claimedAskedAt
    return true
  }

  /**
   * Claims the next key; `undefined` if there is none. A key that has crashed is handed out only if
   * `isFirst` of a batch.
   */
  take(holder: string, leaseMs: number, dueBy: EpochMs, isFirst: boolean): Claim | undefined {
    const { time } = this.store
    const row = this.nextRow(leaseMs === never ? time.coarse() : time.exact(), holder)
    const claimed = row === noRow ? undefined : this.takeRow(row, holder, leaseMs, dueBy, isFirst)
    if (claimed === undefined) return undefined
    return {
      key: this.table.keyAt(this.lastClaimed),
      item: this.table.itemAt(this.lastClaimed),
      token: claimed.token,
      failures: claimed.failures,
      crashes: claimed.crashes,
      priority: claimed.claimedPriority,
      askedAt: claimed.claimedAskedAt,
      readyAt: claimed.claimedReadyAt,
      leaseUntil: claimed.leaseUntil,
      trace: claimed.claimedTrace,
    }
  }

  /** The next row that `holder` may claim. */
  private nextRow(now: EpochMs, holder: string): number {
    if (this.isPaused) return noRow
    if (this.heldCount === 0) this.states.usualHolder = holder
    this.advanceTo(now)
    if (this.readyRows.size === 0) {
      if (this.delayedCount === 0) return noRow
      this.advanceTo(this.store.time.exact())
    }
    return this.readyRows.peek()
  }

  /** Claims `next`, or the first row that was due at `dueBy`: it is then {@link lastClaimed}. */
  private takeRow(
    next: number,
    holder: string,
    leaseMs: number,
    dueBy: EpochMs,
    isFirst: boolean,
  ): RowState | undefined {
    const { latest: now, readyRows, states, store } = this
    const row = states.dueAtOf(next) > dueBy ? readyRows.pick(dueBy) : next
    if (row === noRow) return undefined
    const state = states.read(row)
    const isLastToken = store.lastToken >= tokenMax
    if (!isFirst && (state.crashes > 1 || isLastToken)) return undefined
    if (isLastToken) throw new SluiceError('ERR_STORE', 'cannot claim: no greater token is left')
    readyRows.remove(row)
    this.heldCount += 1
    store.lastToken += 1
    this.seq += 1
    transitions.claim(state, store.lastToken, now + leaseMs, now, this.seq)
    state.holder = holder
    states.write(row, state)
    this.lastClaimed = row
    if (leaseMs !== never) this.leases.add(row, state.leaseUntil, state.token)
    if (state.dueAt === never) this.pending -= 1
    return state
  }

  readyAt(handle: number, token: number): EpochMs {
    const state = this.states.read(handle)
    return state.token === token ? state.claimedReadyAt : never
  }

  trace(handle: number, token: number): string | undefined {
    const state = this.states.read(handle)
    return state.token === token ? state.claimedTrace : undefined
  }

  done(handle: number, token: number, forget: boolean): FinishOutcome {
    const { links, states } = this
    if (states.isPlain(handle) && links.isHeld(handle, token)) {
      if (forget || links.failures(handle) === 0) {
        this.heldCount -= 1
        this.delete(handle)
        return 'idle'
      }
    }
    const now = this.store.time.coarse()
    this.advanceTo(now)
    const state = states.read(handle)
    this.seq += 1
    const outcome = transitions.done(state, token, forget, now, this.seq)
    if (outcome !== 'lost') this.release(handle, state, now)
    return outcome
  }

  finish(handle: number, request: Finish, options: AskOptions): FinishReply {
    const { buckets, time } = this.store
    const isDelayed =
      request.as === 'retry' || (request.as === 'done' && request.again !== undefined)
    const now = isDelayed ? time.exact() : time.coarse()
    this.advanceTo(now)
    const state = this.states.read(handle)
    const wasPending = state.dueAt !== never
    const delayMs = buckets.delayOf(request, state.failures, now)
    this.seq += 1
    const outcome = transitions.finish(state, request, delayMs, options, now, this.seq)
    if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
    buckets.charge()
    const error = transitions.errorOf(request)
    if (error !== undefined) this.table.setText(text.error, handle, error)
    const { dueAt, failures } = state
    if (!wasPending && dueAt !== never) this.pending += 1
    this.release(handle, state, now)
    return { outcome, dueAt, failures }
  }

  forget(key: string): ForgetOutcome {
    // Nearly always that of a key whose run is about to end.
    const { lastClaimed, links, states, table } = this
    const row = table.keyAt(lastClaimed) === key ? lastClaimed : this.index.find(key)
    if (row === noRow) return 'unchanged'
    const isIdle = links.listOf(row) === list.idle
    if (!isIdle && states.isPlain(row)) {
      if (links.failures(row) === 0) return 'unchanged'
      links.setFailures(row, 0)
      return 'forgotten'
    }
    const state = states.read(row)
    const outcome = transitions.forget(state)
    // Failures can be all that is left of a key only while it is idle.
    if (isIdle) this.relist(row, state, this.latest)
    else states.write(row, state)
    return outcome
  }

  failures(key: string, failuresExpireMs: number): number {
    const row = this.index.find(key)
    const state = row === noRow ? undefined : this.states.read(row)
    return countedFailures(state, { failuresExpireMs }, this.store.time.coarse())
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
    const row = this.create(key)
    this.seq += 1
    this.pending += 1
    this.table.setItem(row, item)
    this.states.addPlain(row, dueAt, why, priority, failures, now, this.seq)
    if (dueAt > now) this.delay(row, dueAt, this.seq)
    else this.readyRows.add(row, priority, dueAt, this.seq)
    return 'added'
  }

  /** Adds a key that has a row. */
  private askFor(
    row: number,
    state: RowState,
    request: Ask,
    delayMs: number,
    options: AskOptions,
    now: EpochMs,
  ): AddOutcome {
    if (state.dueAt === never) this.pending += 1
    this.seq += 1
    const outcome = transitions.ask(state, request, delayMs, options, now, this.seq)
    this.table.setItem(row, request.item)
    if (outcome !== 'unchanged') {
      this.relist(row, state, now)
      return outcome
    }
    this.states.write(row, state)
    if (!(delayMs > 0) && this.links.listOf(row) === list.ready) {
      if (this.readyRows.needsTouch) this.readyRows.touch(row)
      else if (state.laterAt === never) this.links.markNoOp(row)
    }
    return outcome
  }
}

function countedFailures(
  state: RowState | undefined,
  { failuresExpireMs }: Pick<AskOptions, 'failuresExpireMs'>,
  now: EpochMs,
): number {
  return state === undefined ? 0 : transitions.countedFailures(state, now, failuresExpireMs)
}
