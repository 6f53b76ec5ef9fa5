/** The most keys that are claimed ahead without a number that was given. */
const autoMax = 1_000

/** How many claims and runs are considered. */
const samples = 32

/** The share of claims that are answered sooner than the round trip that is reckoned with. */
const longShare = 0.9

/** The least time that a key that was claimed ahead is kept. */
const keepMsMin = 100

/**
 * How many keys may be claimed ahead of workers: a given number, or as many as their handlers will
 * start within two round trips of a claim.
 *
 * Nine of ten of the latest claims that brought keys were answered within that round trip: with the
 * median, handlers would have nothing to start during every other claim. How fast keys are started
 * follows from the mean duration of the latest runs, and not from the latest starts: those are slow
 * where too few keys are claimed ahead, and would never become faster.
 *
 * Long items take a while over a slow network, which is no round trip: the more keys a claim brought, the more
 * the next one would ask for, until leases ended on the way.
 */
export class PrefetchAmount {
  readonly #given: number | 'auto'
  readonly #arrivalMsMax: number
  readonly #claimMs: number[] = []
  readonly #keyMs: number[] = []
  #claims = 0
  #medianMs = 0
  #longMs = 0
  #leastKeyMs = 0
  readonly #runMs = new Float64Array(samples)
  #runs = 0
  #sumMs = 0

  /** `arrivalMsMax`: in how long the keys that are claimed ahead have to arrive. */
  constructor(given: number | 'auto', arrivalMsMax: number) {
    this.#given = given
    this.#arrivalMsMax = arrivalMsMax
  }

  /** A claim that brought so many keys was answered after so long. */
  noteClaim(ms: number, keys: number): void {
    this.#claimMs[this.#claims % samples] = ms
    this.#keyMs[this.#claims % samples] = ms / keys
    this.#claims += 1
    this.#leastKeyMs = Math.min(...this.#keyMs)
    const sorted = [...this.#claimMs].sort((a, b) => a - b)
    this.#medianMs = sorted[sorted.length >> 1] ?? 0
    this.#longMs = sorted[Math.floor(sorted.length * longShare)] ?? 0
  }

  /** A handler ran for so long. */
  noteRun(ms: number): void {
    const at = this.#runs % samples
    this.#sumMs += ms - this.#runMs[at]!
    this.#runMs[at] = ms
    this.#runs += 1
  }

  /** How many keys may be claimed ahead of so many slots. */
  of(slots: number): number {
    if (this.#given !== 'auto') return this.#given
    const arriving = this.#arrivalMsMax / Math.max(this.#leastKeyMs, Number.EPSILON)
    return Math.floor(Math.min(autoMax, arriving, this.#startedWithinTwo(slots)))
  }

  /**
   * How many keys may be claimed ahead or wait for an acknowledgement, together. A finish waits for
   * the batch before it and then for its own answer, which would leave no room to claim ahead.
   */
  withFinishing(slots: number): number {
    if (this.#given !== 'auto') return this.#given
    return Math.min(2 * autoMax, Math.ceil(2 * this.#startedWithinTwo(slots)))
  }

  /**
   * How many keys handlers start within two round trips of a claim. Slots whose handlers end in the
   * same turn start one key more each than the mean; of slow handlers at most twice the mean counts.
   */
  #startedWithinTwo(slots: number): number {
    if (this.#runs < samples || this.#longMs === 0) return 0
    const startsPerMs = (slots * samples) / Math.max(this.#sumMs, Number.EPSILON)
    const mean = 2 * this.#longMs * startsPerMs
    return mean + Math.min(mean, slots)
  }

  /** How long a key that was claimed ahead is kept until a handler starts it. */
  get keepMs(): number {
    return Math.max(keepMsMin, 5 * this.#medianMs)
  }
}
