import {
  type AddOutcome,
  type Ask,
  type Awaitable,
  addSoonKeysMax,
  isPromise,
  mergeTraces,
  SluiceError,
  systemClock,
  type Timer,
} from '@sluice/core'
import type { DriverCalls } from '../driver/driver-calls.ts'
import type { GateUser } from '../driver/retry-gate.ts'
import { isTransient, retryDelayMs } from '../driver/retryable.ts'

/** An add without a caller that waits for it. */
export interface SoonAdd {
  readonly ask: Pick<Ask, 'key'> & { priority: number; trace?: string | undefined }
  /** Stores it: when it is the turn of `user` at the gate of the store, or now. */
  store(user: GateUser | undefined): Awaitable<AddOutcome>
}

/** The adds of one key: one on its way, and at most one that waits for it. */
interface Line {
  next: SoonAdd | undefined
}

/** How long to wait between tries while the queue is full. */
const fullDelay = { first: 500, longest: 5_000 }

/**
 * Adds from event handlers, on their way to the store. Bounded; each is tried until it is stored or
 * refused for good. The adds of one key are stored one after the other, so that the last item added
 * wins; an add that has to wait is replaced by the next.
 */
export class SoonBuffer implements GateUser {
  readonly #calls: DriverCalls
  readonly #lines = new Map<string, Line>()
  readonly #underWay = new Set<Promise<void>>()
  /** Those that a full queue has refused, and their common pause. */
  readonly #refused: (() => void)[] = []
  #pause: Timer | undefined
  #isFinal = false

  constructor(calls: DriverCalls) {
    this.#calls = calls
  }

  closedError(): Error {
    return this.#calls.closedError()
  }

  push(add: SoonAdd): void {
    const { key } = add.ask
    const line = this.#lines.get(key)
    if (line !== undefined) {
      line.next = replacing(line.next, add)
      return
    }
    if (this.#lines.size >= addSoonKeysMax) {
      this.#calls.report(
        new SluiceError(
          'ERR_QUEUE_FULL',
          `cannot keep the add of key ${JSON.stringify(key)}: ${addSoonKeysMax} keys are waiting ` +
            'to be stored already; it is dropped',
        ),
      )
      return
    }
    const stored = this.#storeAll(key, add)
    // Stored at once, as in memory.
    if (!this.#lines.has(key)) return
    this.#underWay.add(stored)
    void stored.finally(() => this.#underWay.delete(stored))
  }

  async #storeAll(key: string, first: SoonAdd): Promise<void> {
    const line: Line = { next: undefined }
    this.#lines.set(key, line)
    let add: SoonAdd | undefined = first
    let cutOff: unknown
    for (let tries = 1; add !== undefined; tries += 1) {
      const isLast = this.#isFinal
      try {
        const stored = add.store(isLast ? undefined : this)
        // What is stored at once takes no room here, however many adds follow in this turn.
        if (isPromise(stored)) await stored
      } catch (error) {
        // The queue began to close while the add waited for its turn: it is tried once more, now.
        if (this.#isFinal && !isLast) {
          cutOff = error
          continue
        }
        if (!isLast && isTransient(error)) {
          this.#calls.reportTrouble(error)
          add = replacing(add, take(line) ?? add)
          if (SluiceError.is(error, 'ERR_QUEUE_FULL')) await this.#room(tries)
          continue
        }
        // After the close there is no other try: what became of the one that it cut off is reported.
        this.#calls.report(SluiceError.is(error, 'ERR_CLOSED') ? (cutOff ?? error) : error)
      }
      add = take(line)
      tries = 0
    }
    this.#lines.delete(key)
  }

  /** Waits for room in a full queue: for a key that leaves it, or until the common pause ends. */
  #room(tries: number): Promise<void> {
    // In real time, and keeps the process alive meanwhile.
    this.#pause ??= systemClock.startTimer(retryDelayMs(tries, fullDelay), () =>
      this.#goOn(Infinity),
    )
    this.#pause.ref()
    return new Promise((resolve) => this.#refused.push(resolve))
  }

  /** A key of the queue was claimed or cancelled here, so that one that was refused may have room. */
  onRoom(): void {
    if (this.#refused.length > 0) this.#goOn(1)
  }

  #goOn(count: number): void {
    for (const go of this.#refused.splice(0, count)) go()
    if (this.#refused.length > 0) return
    this.#pause?.stop()
    this.#pause = undefined
  }

  /** Resolves when everything that was pushed is stored, or has failed once more. */
  async flush(): Promise<void> {
    this.#isFinal = true
    this.#calls.handle.gate.leave(this)
    this.#goOn(Infinity)
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}

function take(line: Line): SoonAdd | undefined {
  const { next } = line
  line.next = undefined
  return next
}

/** The later of two adds of a key, at the higher priority of both. */
function replacing(earlier: SoonAdd | undefined, later: SoonAdd): SoonAdd {
  if (earlier !== undefined) {
    later.ask.priority = Math.max(earlier.ask.priority, later.ask.priority)
    later.ask.trace = mergeTraces(earlier.ask.trace, later.ask.trace)
  }
  return later
}
