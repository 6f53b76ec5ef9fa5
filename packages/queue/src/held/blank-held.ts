import type { QueueCore } from '../core/queue-core.ts'
import { HeldKey, type HeldPolicy } from './held-key.ts'

/** Helds for claims to fill. One that a claim did not fill is kept for the next claim. */
export class BlankHeld {
  private readonly engine: QueueCore
  private kept: HeldKey<unknown> | undefined = undefined

  constructor(engine: QueueCore) {
    this.engine = engine
  }

  take(policy: HeldPolicy): HeldKey<unknown> {
    const { kept } = this
    if (kept === undefined) return new HeldKey<unknown>(this.engine, policy)
    this.kept = undefined
    kept.policy = policy
    return kept
  }

  /** Takes back one that a claim got nothing for. */
  keep(held: HeldKey<unknown>): void {
    this.kept = held
  }
}
