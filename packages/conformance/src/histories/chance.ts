/** A seeded random generator: the same seed draws the same numbers, in the same order. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number from 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  /** True with the probability `p`. */
  happens(p: number): boolean {
    return this.next() < p
  }

  /** One of several. */
  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new RangeError('nothing to pick from')
    return from[this.below(from.length)] as T
  }

  /** A separate generator, which does not affect the order of this one. */
  fork(): Chance {
    return new Chance(this.below(2 ** 32))
  }
}
