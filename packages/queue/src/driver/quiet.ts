import type { TracedVerb } from '@sluice/core'
import type { DriverHandle } from './driver-handle.ts'

/** The queue object that may be quiet. */
export interface QuietOwner {
  /** Whether callers wait for keys, so that news from the store matter. */
  readonly isWaiting: boolean
  /**
   * Whether nothing is held or under way and, if callers wait, whether the store has said since then
   * (monotonic) that nothing is due yet.
   */
  isIdleSince(instant: number): boolean
}

/** The calls that a queue object makes without work, and those that only read. */
const idleVerbs: ReadonlySet<TracedVerb> = new Set(['tick', 'claim', 'renew', 'counts', 'list'])

/**
 * Whether one queue object leaves its store alone, since it has had no work for `quietAfterMs`. It
 * becomes quiet by the answer to a last tick, after that time, which names the next key that is due.
 */
export class Quiet {
  readonly #afterMs: number
  readonly #handle: DriverHandle
  readonly #owner: QuietOwner
  #workedAt = -Infinity
  /** Whether a caller has ever waited for keys; an object that only adds needs no news. */
  #hasWaited = false

  constructor(afterMs: number, handle: DriverHandle, owner: QuietOwner) {
    this.#afterMs = afterMs
    this.#handle = handle
    this.#owner = owner
  }

  /** Whether the store must be watched for this queue object. */
  get needsNews(): boolean {
    if (this.#afterMs === Infinity) return this.#hasWaited
    return !this.#owner.isIdleSince(this.#workedAt + this.#afterMs)
  }

  /** Whether there is a watch to end once nothing needs it. */
  get mayEndWatch(): boolean {
    return this.#afterMs !== Infinity && this.#handle.isWatching
  }

  /** A call is made. */
  noteCall(verb: TracedVerb): void {
    if (this.#afterMs !== Infinity && !idleVerbs.has(verb)) this.noteWork()
  }

  /** There is work in this process, or news of some. */
  noteWork(): void {
    if (this.#afterMs !== Infinity) this.#workedAt = this.#handle.clock.monotonicMs()
    if (!this.#owner.isWaiting) return
    this.#hasWaited = true
    this.#handle.watchAgain()
  }

  /** Whether the queue object is quiet; if all are, the watch of the store is ended. */
  rest(): boolean {
    if (this.#afterMs === Infinity || this.needsNews) return false
    this.#handle.endNeedlessWatch()
    return true
  }
}
