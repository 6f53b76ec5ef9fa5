import { type EpochMs, graceMsDefault, isPromise, SluiceError, systemClock } from '@sluice/core'
import { inTime } from '../environment/timing.ts'
import type { QueueCore } from './queue-core.ts'

/**
 * How long holders have after their signals were aborted, before their keys are left to their
 * leases.
 */
const settleMs = 1_000

/** The least time that the store has to close. */
const leaveMs = 500

/** How long an answer is awaited at least, even where the time for it has passed. */
const lastMs = 100

/** How much longer than its grace a close takes at most. */
export const closeMs = 2_000

const noKeys: ReadonlySet<string> = new Set()

/** A caller that waits for the end of a drain. */
interface Drainer {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The end of a queue object: shut down (it takes no more adds), drained (and every key that was due
 * is done), and closed (it holds nothing). Each happens once, whatever the number of calls.
 */
export class Lifecycle {
  readonly #core: QueueCore
  #shutDownAt: Promise<EpochMs> | undefined
  #instant: EpochMs | undefined
  /** How many callers of `shutDown` wait for its time. */
  #asking = 0
  readonly #drainers = new Set<Drainer>()
  #givenBack: (() => void)[] = []
  #isChecking = false
  #mustCheckAgain = false
  #closed: Promise<void> | undefined
  /** Ends the grace of a close that is in progress. */
  #endGrace: () => void = () => undefined

  constructor(core: QueueCore) {
    this.#core = core
  }

  /** Whether a caller waits for a key to be given back, or for a drain. */
  get isWatched(): boolean {
    return this.#drainers.size > 0 || this.#givenBack.length > 0
  }

  get isDraining(): boolean {
    return this.#drainers.size > 0
  }

  /** Takes no more adds; ends the wait of drains. Resolves once the store's time of the call is known. */
  async shutDown(): Promise<void> {
    const core = this.#core
    const at = this.#begin()
    this.#endDrains()
    core.alarm.set()
    this.#asking += 1
    try {
      // The store goes on being asked where getters and drains wait for the answer.
      await inTime(at, core.calls.options.timeoutMs, 'shut down')
    } finally {
      this.#asking -= 1
    }
  }

  #begin(): Promise<EpochMs> {
    const core = this.#core
    if (core.phase === 'closing' || core.phase === 'closed') {
      return Promise.reject(core.calls.closedError())
    }
    if (this.#shutDownAt !== undefined) return this.#shutDownAt
    core.directQueue = undefined
    if (core.phase === 'open') {
      core.phase = 'shutting-down'
      core.calls.notice('shut-down', undefined)
    }
    const asked = this.#askInstant()
    this.#shutDownAt = asked
    // Callers may await it; none has to.
    asked.catch((error: unknown) => {
      if (this.#shutDownAt !== asked) return
      // Without the time it is unknown which keys were due. The next call asks for the time again.
      this.#shutDownAt = undefined
      for (const waiter of core.waiters.takeAll()) waiter.fail(error)
    })
    return asked
  }

  /** Nobody waits for the time of the shutdown any more: the next one who does asks again. */
  readonly #giveUpAsking = (): boolean => {
    const { phase, isWaiting } = this.#core
    if (phase !== 'closed' && (this.#asking > 0 || isWaiting || this.isWatched)) return false
    this.#shutDownAt = undefined
    return true
  }

  /** Without a wait where the store answers at once. */
  async #askInstant(): Promise<EpochMs> {
    const now = this.#core.backend.now(this.#giveUpAsking)
    return this.#begun(isPromise(now) ? await now : now)
  }

  #begun(at: EpochMs): EpochMs {
    const core = this.#core
    this.#instant = at
    core.dueBy = at
    void core.claims.releasePrefetched()
    core.claims.handOut()
    this.check()
    return at
  }

  /** Asks the store for the time of the shutdown, unless that is in flight. */
  learnInstant(): void {
    void this.#begin()
  }

  /** Whether the time of the shutdown is known, and with it which keys were due. */
  get isInstantKnown(): boolean {
    return this.#instant !== undefined
  }

  /** Shuts down, and waits until nothing that was due is left. */
  drain(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const begun = this.#begin()
    let onAbort = (): void => {}
    const drained = new Promise<void>((resolve, reject) => {
      const drainer: Drainer = {
        resolve,
        reject: (reason) => {
          this.#drainers.delete(drainer)
          this.#core.alarm.set()
          reject(reason)
        },
      }
      onAbort = () => drainer.reject(signal?.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#drainers.add(drainer)
      begun.then(() => {
        this.check()
        this.#core.alarm.set()
      }, drainer.reject)
    })
    return drained.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  /** Resolves when the next key is given back or lost, or the queue is closed. */
  nextGivenBack(): Promise<void> {
    return new Promise((resolve) => {
      this.#givenBack.push(resolve)
      this.#core.alarm.set()
    })
  }

  /** A key was given back or lost: resolves the promises of callers that wait for that. */
  onGivenBack(): void {
    const givenBack = this.#givenBack
    this.#givenBack = []
    for (const resolve of givenBack) resolve()
    this.check()
  }

  #endDrains(): void {
    for (const drainer of this.#drainers) drainer.resolve()
    this.#drainers.clear()
  }

  /** Something has changed: checks whether a drain has ended. */
  check(): void {
    if (this.#drainers.size === 0) return
    if (this.#isChecking) {
      this.#mustCheckAgain = true
      return
    }
    this.#isChecking = true
    this.#checkDrain()
      .catch((error: unknown) => {
        // Transient errors have been retried; this one is permanent.
        for (const drainer of this.#drainers) drainer.reject(error)
      })
      .finally(() => {
        this.#isChecking = false
        if (!this.#mustCheckAgain) return
        this.#mustCheckAgain = false
        this.check()
      })
  }

  async #checkDrain(): Promise<void> {
    if (this.#instant === undefined || this.#core.helds.size > 0) return
    if (!(await this.#core.backend.isDrained(this.#instant))) return
    if (this.#core.helds.size > 0) return
    this.#endDrains()
    this.#core.alarm.set()
  }

  /**
   * Closes the queue. Called again with a grace of 0, it skips the rest of the grace, whether that is
   * spent on holders or on a store that does not answer. `leftMs`: how long it may take at most, in real
   * time.
   */
  close(graceMs?: number, leftMs?: number): Promise<void> {
    if (graceMs === 0) this.#endGrace()
    this.#closed ??= this.#close(graceMs, leftMs)
    return this.#closed
  }

  async #close(givenMs: number | undefined, leftMs: number | undefined): Promise<void> {
    const isHeld = (): boolean => this.#core.helds.size > 0
    const isRunning = (): boolean => this.#runningKeys().size > 0
    const graceMs = givenMs ?? (isRunning() ? graceMsDefault : 0)
    const core = this.#core
    let endAt = systemClock.monotonicMs() + (leftMs ?? graceMs + closeMs)
    const graceEnded = new Promise<void>((resolve) => {
      this.#endGrace = () => {
        endAt = Math.min(endAt, systemClock.monotonicMs() + closeMs)
        resolve()
      }
    })
    core.directQueue = undefined
    core.phase = 'closing'
    for (const waiter of core.waiters.takeAll()) waiter.answer([])
    core.inspection?.dismiss()
    this.#endDrains()
    const answered = this.#allAnswered()
    const answeredOrEnded = Promise.race([answered, graceEnded])
    if (givenMs === undefined && graceMs > 0) {
      // Keys without a grace are not told later because others have one and the store does not answer.
      await endsBy(answeredOrEnded, endAt - graceMs - leaveMs - settleMs)
      this.#abortAllBut(this.#runningKeys())
    }
    await endsBy(answeredOrEnded, endAt - leaveMs - settleMs)
    if (graceMs > 0) {
      const areLeft = givenMs === undefined ? isRunning : isHeld
      await this.#waitWhile(areLeft, graceMs, endAt - leaveMs - settleMs, graceEnded)
    }
    this.#abortAllBut(noKeys)
    await this.#waitWhile(isHeld, settleMs, endAt - leaveMs)
    // A worker says that it has ended, and what it did last. One whose handler does not end cannot.
    if (!isHeld() && core.tally?.runningKeys().length === 0) {
      await endsBy(core.tally.allEnded(), endAt - leaveMs)
    }
    core.phase = 'closed'
    // Finishes that holders have made meanwhile are in flight.
    const isAnswered = await endsBy(
      answered.then(() => core.backend.idle()),
      endAt - leaveMs,
    )
    if (!isAnswered) core.backend.giveUp()
    this.#reportHeld()
    core.keeper.stop()
    core.alarm.off()
    core.tally?.unref()
    core.backend.stop()
    this.onGivenBack()
    core.calls.notice('closed', undefined)
    if (await endsBy(core.calls.leave(), endAt)) return
    throw new SluiceError(
      'ERR_TIMEOUT',
      `queue ${JSON.stringify(core.calls.name)} was closed, but its store did not close in time`,
    )
  }

  /** Resolves when every call that was accepted is answered, however long that takes. */
  async #allAnswered(): Promise<void> {
    const { backend, claims, soon } = this.#core
    await soon.flush()
    await claims.releasePrefetched()
    await backend.idle()
  }

  /**
   * Reports the keys that were not given back in time; a finish in flight reports its own outcome.
   */
  #reportHeld(): void {
    const { helds, calls } = this.#core
    const left = helds.active().filter(({ phase }) => phase === 'held')
    calls.reportLeft(
      left.map(({ key }) => key),
      'queue',
      'closed',
    )
  }

  /** The keys of handlers that run: unless a grace was given, only these have one. */
  #runningKeys(): ReadonlySet<string> {
    const { helds, tally } = this.#core
    return new Set(tally?.runningKeys().filter((key) => helds.holds(key)))
  }

  #abortAllBut(keys: ReadonlySet<string>): void {
    for (const held of this.#core.helds.active()) {
      if (!keys.has(held.key)) held.abort(this.#closingError())
    }
  }

  #closingError(): SluiceError {
    return new SluiceError(
      'ERR_CLOSING',
      `queue ${JSON.stringify(this.#core.calls.name)} is closing: stop working on this key and give ` +
        'it back',
    )
  }

  /** Waits for keys to be given back, but not longer than `ms`, nor than until `endAt` in real time. */
  async #waitWhile(
    areLeft: () => boolean,
    ms: number,
    endAt: number,
    sooner?: Promise<void>,
  ): Promise<void> {
    if (!areLeft()) return
    const { calls } = this.#core
    let isOver = false
    const end = (): void => {
      isOver = true
      this.onGivenBack()
    }
    const timer = calls.handle.clock.startTimer(ms, end)
    const atLast = systemClock.startTimer(endAt - systemClock.monotonicMs(), end)
    timer.ref()
    atLast.ref()
    void sooner?.then(end)
    while (areLeft() && !isOver) await this.nextGivenBack()
    timer.stop()
    atLast.stop()
  }
}

/** Waits for something, but not longer than until `endAt` in real time; whether it has ended. */
export function endsBy(ending: Promise<void>, endAt: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let isLast = false
    // In a process that was held up, timers fire before answers that have come are read: the last part
    // is a timer of its own.
    const timer = systemClock.startTimer(endAt - systemClock.monotonicMs() - lastMs, () => {
      if (isLast) resolve(false)
      else timer.reset(lastMs)
      isLast = true
    })
    timer.ref()
    ending.then(() => resolve(true), reject).finally(() => timer.stop())
  })
}
