import {
  type AskOptions,
  type EpochMs,
  type ExpireOptions,
  type ExpireOutcome,
  type Finish,
  type FinishReply,
  type Lease,
  never,
  perKeyDelay,
  type RenewReply,
  transitions,
} from '@sluice/core/driver'
import { DirectVerbs } from './direct-verbs.ts'
import type { RowCursor } from './rows/row-cursor.ts'
import { noRow } from './rows/row-links.ts'

/** One queue in memory: every verb for one key at a time. */
export class MemoryQueue extends DirectVerbs {
  /** Finishes by key; `lost` if nothing is stored of it. */
  finishByKey(request: Finish, options: AskOptions): FinishReply {
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
    this.advanceTo(now)
    const row = this.index.find(key)
    if (row === noRow) return 'lost'
    const { cursor } = this
    cursor.at(row)
    const { plan, jitter = 0, maxCrashes, dedupe, error } = options
    const delayMs = plan === undefined ? 0 : perKeyDelay(plan, cursor.failures, jitter)
    const dueBefore = cursor.dueAt
    this.seq += 1
    const outcome = transitions.expire(cursor, token, delayMs, maxCrashes, dedupe, now, this.seq)
    if (outcome === 'lost') return 'lost'
    if (error !== undefined) this.table.setError(row, error)
    if (dueBefore === never) this.pending += 1
    this.afterRelease(now)
    return outcome
  }

  /**
   * Changes a key, stored or not. Keys that are added later come after `seq` in the order. If the
   * outcome is `same`, the key stays where it is.
   */
  alter<Outcome>(
    key: string,
    seq: number,
    verb: (row: RowCursor, now: EpochMs) => Outcome,
    same?: Outcome,
  ): Outcome {
    const now = this.store.time.exact()
    this.advanceTo(now)
    const { cursor } = this
    let row = this.index.find(key)
    if (row === noRow) {
      row = this.create(key)
      cursor.atNew(row, key)
    } else cursor.at(row)
    const wasPending = cursor.dueAt !== never
    this.seq = Math.max(this.seq, seq)
    const outcome = verb(cursor, now)
    const isPending = cursor.dueAt !== never
    if (isPending !== wasPending) this.pending += isPending ? 1 : -1
    if (outcome !== same) this.relist(now)
    return outcome
  }

  /** Changes a key; `missing` if nothing is stored of it, or if the verb says so. */
  change<Outcome>(
    key: string,
    missing: Outcome,
    verb: (row: RowCursor, now: EpochMs, seq: number) => Outcome,
  ): Outcome {
    if (this.index.find(key) === noRow) return missing
    const seq = this.seq + 1
    return this.alter(key, seq, (row, now) => verb(row, now, seq), missing)
  }
}
