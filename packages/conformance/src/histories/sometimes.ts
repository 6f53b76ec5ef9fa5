/** An event that a run of histories has to include, so that its success means something. */
export type SometimesEvent =
  | 'a key was added while it was held'
  | 'a lease ended and its key was claimed again'
  | 'a stale token was answered with lost'
  | 'an unknown outcome had taken effect'
  | 'an unknown outcome had not taken effect'
  | 'a call was rejected and had no effect'
  | 'a call stalled while others went on'
  | 'a wake was lost'
  | 'a wake came twice'
  | 'the clock was set forward'
  | 'the clock was set back'
  | 'a client was killed while it held keys'
  | 'two clients had calls in flight at the same time'
  | 'a batch of several keys was claimed'

/** Counts events. */
export class Sometimes {
  readonly #seen = new Map<SometimesEvent, number>()

  observe(sight: SometimesEvent): void {
    this.#seen.set(sight, (this.#seen.get(sight) ?? 0) + 1)
  }

  count(sight: SometimesEvent): number {
    return this.#seen.get(sight) ?? 0
  }

  /** The events among these that never occurred. */
  missing(sights: readonly SometimesEvent[]): SometimesEvent[] {
    return sights.filter((sight) => this.count(sight) === 0)
  }
}
