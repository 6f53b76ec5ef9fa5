import { HeldKey, type HeldOwner, type HeldPolicy } from './held-key.ts'

/** Helds for claims to fill. One that a claim did not fill is kept for the next claim. */
export class BlankHeld {
  private readonly owner: HeldOwner
  private kept: HeldKey<unknown> | undefined = undefined

  constructor(owner: HeldOwner) {
    this.owner = owner
  }

  take(policy: HeldPolicy): HeldKey<unknown> {
    const { kept } = this
    if (kept === undefined) return new HeldKey<unknown>(this.owner, policy)
    this.kept = undefined
    kept.policy = policy
    return kept
  }

  /** Takes back one that a claim got nothing for. */
  keep(held: HeldKey<unknown>): void {
    this.kept = held
  }
}
