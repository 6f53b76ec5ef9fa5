import {
  type AddOutcome,
  type Ask,
  type AskOptions,
  type AskReply,
  type CancelOutcome,
  type Claim,
  type Dedupe,
  type DirectClaim,
  type DirectQueue,
  type EpochMs,
  type ExpireOptions,
  type ExpireOutcome,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type ForgetOutcome,
  failuresExpireMsDefault,
  type Lease,
  never as neverImported,
  noToken as noTokenImported,
  type OperateOutcome,
  perKeyDelay,
  type RenewReply,
  transitions,
} from '@sluice/core'
import type { BucketShelf } from './bucket-shelf.ts'
import { HoldTable } from './hold-table.ts'
import { ReadyLanes } from './ready-lanes.ts'
import { OrderedRows, type ReadyOrder } from './ready-order.ts'
import type { ReadyRows } from './ready-rows.ts'
import { RowCursor } from './row-cursor.ts'
import { RowHeap } from './row-heap.ts'
import { noRow as noRowImported, place as placeImported, type RowLinks } from './row-links.ts'
import { RowTable } from './row-table.ts'
import type { StoreTime } from './store-time.ts'
import { StringIndex } from './string-index.ts'
import { WorkerBook } from './worker-book.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noToken = noTokenImported
const noRow = noRowImported
const place = placeImported

/** What the queues of one store share. */
export interface MemoryStore {
  readonly time: StoreTime
  readonly shelf: BucketShelf
  /** The greatest token given out so far. */
  lastToken: number
}

const askNow = { item: undefined, priority: 0, delayMs: 0 }

/**
 * One queue in memory: every verb for one key at a time.
 *
 * What a verb does to a key is decided by the transitions of core, on a cursor over the key's row.
 * What is left to do here is to find the row, and to keep it where its state says: in the line of
 * the ready ones, in the heap of the delayed, among the parked, among the idle.
 */
export class MemoryQueue implements DirectQueue {
  readonly name: string
  isPaused = false
  readonly table: RowTable
  readonly cursor: RowCursor
  readonly holds: HoldTable = new HoldTable()
  readonly workers: WorkerBook = new WorkerBook()
  readonly line: ReadyRows
  readonly delayed: RowHeap
  /** The leases that end by themselves, by when they do. */
  readonly leases: RowHeap
  /** The heads of the lists of rows that are set aside, and how many there are. */
  readonly idle: number
  readonly parked: number
  idleCount = 0
  parkedCount = 0
  heldCount = 0
  private readonly store: MemoryStore
  private readonly links: RowLinks
  private readonly index: StringIndex
  private seq = 0
  /** How many keys are owed a run. */
  private owed = 0
  /** The time up to which the line holds what is due. */
  private latest: EpochMs = -Infinity
  /** As the last verb had it that could count a failure; the door's `add` is not told. */
  private failuresExpireMs: number = failuresExpireMsDefault

  constructor(name: string, store: MemoryStore, expectedKeys: number, order?: ReadyOrder) {
    this.name = name
    this.store = store
    this.table = new RowTable(expectedKeys)
    this.links = this.table.links
    this.cursor = new RowCursor(this.table, this.holds)
    this.index = new StringIndex(this.table, expectedKeys)
    this.delayed = new RowHeap(this.links)
    this.leases = new RowHeap(this.links)
    this.idle = this.table.takeHead()
    this.parked = this.table.takeHead()
    this.line =
      order === undefined
        ? new ReadyLanes(this.table, this.cursor)
        : new OrderedRows(this.links, this.index, this.cursor, order)
  }

  /** How many keys there are, in any state. */
  get size(): number {
    return this.index.size
  }

  /** The row of a key; `noRow` if nothing is stored of it. */
  find(key: string): number {
    return this.index.find(key)
  }

  add(key: string, item: string | undefined, priority: number, dedupe: Dedupe): AddOutcome {
    const now = this.store.time.coarse()
    this.bringUpTo(now)
    const { cursor, table } = this
    const row = this.index.find(key)
    this.seq += 1
    if (row === noRow) {
      this.begin(key)
      const outcome = transitions.add(cursor, priority, dedupe, now, this.seq)
      table.setItem(cursor.row, item)
      this.owed += 1
      this.put(now)
      return outcome
    }
    if (this.links.isSettled(row, priority) && item === undefined && !table.hasItems) {
      return 'unchanged'
    }
    cursor.at(row)
    if (cursor.failedAt !== never) {
      const options = { dedupe, failuresExpireMs: this.failuresExpireMs }
      return this.askFor({ ...askNow, key, item, priority }, 0, options, now)
    }
    const { dueAt, laterAt } = cursor
    const outcome = transitions.add(cursor, priority, dedupe, now, this.seq)
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

  ask(request: Ask, options: AskOptions): AskReply {
    const { plan } = request
    const { shelf, time } = this.store
    // What is due later is due exactly then; for what is due now a little earlier is no matter.
    const now = plan === undefined && !(request.delayMs > 0) ? time.coarse() : time.exact()
    this.bringUpTo(now)
    this.failuresExpireMs = options.failuresExpireMs
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
    if (!isFirst && cursor.crashes > 0) return false
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
    this.failuresExpireMs = options.failuresExpireMs
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

  /** Finishes by key; `lost` if nothing is stored of it. */
  finishKey(request: Finish, options: AskOptions): FinishReply {
    const row = this.index.find(request.key)
    if (row === noRow) return { outcome: 'lost', dueAt: never, failures: 0 }
    return this.finish(row, request, options)
  }

  renew({ key, token }: Lease, leaseMs: number): RenewReply {
    const row = this.index.find(key)
    if (row === noRow) return { outcome: 'lost', leaseUntil: never }
    const { cursor } = this
    cursor.at(row)
    const outcome = transitions.renew(cursor, token, this.store.time.exact() + leaseMs)
    cursor.isDirty = true
    const { leaseUntil } = cursor
    if (outcome === 'renewed' && this.leases.has(row)) {
      if (leaseUntil === never) this.leases.remove(row)
      else this.leases.move(row, leaseUntil, token)
    }
    return { outcome, leaseUntil }
  }

  expire({ key, token }: Lease, options: ExpireOptions): ExpireOutcome {
    const now = this.store.time.exact()
    this.bringUpTo(now)
    const row = this.index.find(key)
    if (row === noRow) return 'lost'
    const { cursor } = this
    cursor.at(row)
    const { plan, jitter = 0, maxCrashes, dedupe } = options
    const delayMs = plan === undefined ? 0 : perKeyDelay(plan, cursor.failures, jitter)
    const dueBefore = cursor.dueAt
    this.seq += 1
    const outcome = transitions.expire(cursor, token, delayMs, maxCrashes, dedupe, now, this.seq)
    if (outcome === 'lost') return 'lost'
    if (dueBefore === never) this.owed += 1
    this.letGo(now)
    return outcome
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

  cancel(key: string): CancelOutcome {
    return this.change(key, 'unchanged', () => transitions.cancel(this.cursor))
  }

  park(key: string): OperateOutcome {
    return this.change(key, 'missing', () => transitions.park(this.cursor))
  }

  unpark(key: string, forgets: boolean): OperateOutcome {
    return this.change(key, 'missing', (now, seq) =>
      transitions.unpark(this.cursor, forgets, now, seq),
    )
  }

  runNow(key: string): OperateOutcome {
    return this.change(key, 'missing', (now, seq) => transitions.runNow(this.cursor, now, seq))
  }

  remove(key: string): OperateOutcome {
    return this.change(key, 'missing', () => transitions.remove(this.cursor))
  }

  /**
   * Changes a key, of which nothing need be stored, by something that is no verb of one key. Later
   * keys take their places behind `seq`.
   */
  alter<Outcome>(
    key: string,
    seq: number,
    verb: (row: RowCursor, now: EpochMs) => Outcome,
  ): Outcome {
    const now = this.store.time.exact()
    this.bringUpTo(now)
    const { cursor } = this
    const row = this.index.find(key)
    if (row === noRow) this.begin(key)
    else cursor.at(row)
    const wasOwed = cursor.dueAt !== never
    this.seq = Math.max(this.seq, seq)
    const outcome = verb(cursor, now)
    const isOwed = cursor.dueAt !== never
    if (isOwed !== wasOwed) this.owed += isOwed ? 1 : -1
    this.keep(now)
    return outcome
  }

  failures(key: string, failuresExpireMs: number): number {
    const row = this.index.find(key)
    if (row !== noRow) this.cursor.at(row)
    return this.countedFailures(row, { failuresExpireMs }, this.store.time.coarse())
  }

  ready(): number {
    this.bringUpTo(this.store.time.coarse())
    return this.line.size
  }

  nextAt(): EpochMs {
    // With nothing delayed, and nothing to take back if the wall was set back, time makes no change.
    if (this.delayed.size > 0 || this.line.size > 0) this.bringUpTo(this.store.time.exact())
    const leaseEnd = this.leases.firstAt
    if (this.isPaused) return leaseEnd
    return Math.min(leaseEnd, this.line.size > 0 ? this.latest : this.delayed.firstAt)
  }

  /** Leases that are over, at most `limit` of them. */
  leaseEnds(now: EpochMs, limit: number): Lease[] {
    if (this.leases.firstAt > now) return []
    return this.leases.upTo(now, limit).map((row) => {
      this.cursor.at(row)
      return { key: this.cursor.key, token: this.cursor.token }
    })
  }

  /** Drops at most `limit` idle keys whose failures have expired; says how many. */
  sweep(limit: number, failuresExpireMs: number, now: EpochMs): number {
    this.failuresExpireMs = failuresExpireMs
    const { cursor, links } = this
    let swept = 0
    let lookedAt = 0
    let row = links.next(this.idle)
    while (row !== this.idle && swept < limit && lookedAt < 4 * limit) {
      const next = links.next(row)
      lookedAt += 1
      cursor.at(row)
      if (transitions.hasStaleFailures(cursor, now, failuresExpireMs)) {
        transitions.forget(cursor)
        this.keep(now)
        swept += 1
      }
      row = next
    }
    return swept
  }

  /** Moves keys that are due at `now` into the line. Comes first in every verb. */
  bringUpTo(now: EpochMs): void {
    if (now < this.latest) this.goBackTo(now)
    this.latest = now
    if (this.delayed.firstAt <= now) this.ripen(now)
  }

  private ripen(now: EpochMs): void {
    const { cursor, delayed } = this
    while (delayed.firstAt <= now) {
      const row = delayed.first
      delayed.remove(row)
      cursor.at(row)
      this.line.add()
    }
  }

  /** The wall was set back: keys in the line may not be due yet, once more. */
  private goBackTo(now: EpochMs): void {
    for (const row of this.line.notDueAt(now)) {
      this.cursor.at(row)
      this.keep(now)
    }
  }

  /** Puts the cursor on a new row, for a key that the index has just not found. */
  private begin(key: string): void {
    const row = this.table.take(key)
    this.index.addMissed(row)
    this.cursor.atNew(row, key)
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

  /** What comes after the transitions have let go of a held row. */
  private letGo(now: EpochMs): void {
    const { cursor } = this
    if (this.leases.size > 0 && this.leases.has(cursor.row)) this.leases.remove(cursor.row)
    this.heldCount -= 1
    if (transitions.isGone(cursor)) {
      this.drop()
    } else {
      cursor.isDirty = true
      this.put(now)
    }
  }

  private change<Outcome>(
    key: string,
    missing: Outcome,
    verb: (now: EpochMs, seq: number) => Outcome,
  ): Outcome {
    const now = this.store.time.exact()
    this.bringUpTo(now)
    const row = this.index.find(key)
    if (row === noRow) return missing
    const { cursor } = this
    cursor.at(row)
    const wasOwed = cursor.dueAt !== never
    this.seq += 1
    const outcome = verb(now, this.seq)
    if (wasOwed && cursor.dueAt === never) this.owed -= 1
    if (outcome !== missing) this.keep(now)
    return outcome
  }

  /** Keeps the cursor's row, which was changed, where its state says; or lets go of it. */
  private keep(now: EpochMs): void {
    const { cursor } = this
    cursor.isDirty = true
    this.takeOut()
    if (transitions.isGone(cursor)) this.drop()
    else this.put(now)
  }

  /** Takes the cursor's row out of wherever it is kept. */
  private takeOut(): void {
    const { links } = this
    const { row } = this.cursor
    switch (links.placeOf(row)) {
      case place.nowhere:
        break
      case place.delayed:
        this.delayed.remove(row)
        links.setPlace(row, place.nowhere)
        break
      case place.idle:
        links.unlink(row)
        this.idleCount -= 1
        break
      case place.parked:
        links.unlink(row)
        this.parkedCount -= 1
        break
      default:
        this.line.remove()
    }
  }

  /** Puts the cursor's row, which is nowhere, where its state says. */
  private put(now: EpochMs): void {
    const { cursor } = this
    if (cursor.dueAt <= now && !cursor.parked && cursor.token === noToken) this.line.add()
    else this.putAside()
  }

  private putAside(): void {
    const { cursor, links } = this
    const { row } = cursor
    if (cursor.token !== noToken) return
    if (cursor.parked) {
      links.append(this.parked, row, place.parked)
      this.parkedCount += 1
    } else if (cursor.dueAt === never) {
      links.append(this.idle, row, place.idle)
      this.idleCount += 1
    } else {
      this.delayed.add(row, cursor.dueAt, cursor.seq)
      links.setPlace(row, place.delayed)
    }
  }

  /** Lets go of the cursor's row, of which nothing is worth storing. */
  private drop(): void {
    const { cursor } = this
    const { row } = cursor
    this.index.remove(row)
    cursor.leave()
    this.table.giveBack(row)
  }
}
