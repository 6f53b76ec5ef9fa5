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
import { noRow } from './rows/row-links.ts'
import type { RowState } from './rows/row-states.ts'
import { text } from './rows/row-table.ts'

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
    const state = this.states.read(row)
    const outcome = transitions.renew(state, token, this.store.time.exact() + leaseMs)
    const { leaseUntil } = state
    if (outcome === 'renewed' && this.leases.has(row)) {
      if (leaseUntil === never) this.leases.remove(row)
      else this.leases.move(row, leaseUntil, token)
    }
    this.states.write(row, state)
    return { outcome, leaseUntil }
  }

  expire({ key, token }: Lease, options: ExpireOptions): ExpireOutcome {
    const now = this.store.time.exact()
    this.advanceTo(now)
    const row = this.index.find(key)
    if (row === noRow) return 'lost'
    const state = this.states.read(row)
    const { plan, jitter = 0, maxCrashes, dedupe, error } = options
    const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter)
    const wasPending = state.dueAt !== never
    this.seq += 1
    const outcome = transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, this.seq)
    if (outcome === 'lost') return 'lost'
    if (error !== undefined) this.table.setText(text.error, row, error)
    if (!wasPending) this.pending += 1
    this.release(row, state, now)
    return outcome
  }

  /**
   * Changes a key, stored or not. Keys that are added later come after `seq` in the order. If the
   * outcome is `same`, the key stays where it is.
   */
  alter<Outcome>(
    key: string,
    seq: number,
    verb: (state: RowState, now: EpochMs, row: number) => Outcome,
    same?: Outcome,
  ): Outcome {
    const now = this.store.time.exact()
    this.advanceTo(now)
    const found = this.index.find(key)
    const row = found === noRow ? this.createEmpty(key) : found
    const state = this.states.read(row)
    const wasPending = state.dueAt !== never
    this.seq = Math.max(this.seq, seq)
    const outcome = verb(state, now, row)
    const isPending = state.dueAt !== never
    if (isPending !== wasPending) this.pending += isPending ? 1 : -1
    if (outcome !== same) this.relist(row, state, now)
    return outcome
  }

  /** Changes a key; `missing` if nothing is stored of it, or if the verb says so. */
  change<Outcome>(
    key: string,
    missing: Outcome,
    verb: (state: RowState, now: EpochMs, seq: number) => Outcome,
  ): Outcome {
    if (this.index.find(key) === noRow) return missing
    const seq = this.seq + 1
    return this.alter(key, seq, (state, now) => verb(state, now, seq), missing)
  }
}
