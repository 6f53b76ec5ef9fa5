/** What a run of histories has to have met, so that its being green means something. */
export type Sight =
  | 'a key was added while it was held'
  | 'a lease ended and its key was claimed again'
  | 'a stale holder was told that it had lost'
  | 'an unknown outcome had taken effect'
  | 'an unknown outcome had not taken effect'
  | 'a call was refused and had no effect'
  | 'a call stalled while others went on'
  | 'a wake was lost'
  | 'a wake came twice'
  | 'the clock jumped forward'
  | 'the clock jumped back'
  | 'a client was killed with keys in its hands'
  | 'two clients had calls under way at the same time'
  | 'a batch of several keys was claimed'

/** Counts what was met. */
export class Sometimes {
  readonly #seen = new Map<Sight, number>()

  saw(sight: Sight): void {
    this.#seen.set(sight, (this.#seen.get(sight) ?? 0) + 1)
  }

  count(sight: Sight): number {
    return this.#seen.get(sight) ?? 0
  }

  /** Which of these were never met. */
  missing(sights: readonly Sight[]): Sight[] {
    return sights.filter((sight) => this.count(sight) === 0)
  }
}
