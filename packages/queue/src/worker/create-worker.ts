import {
  checkNumber,
  checkObject,
  delayMsMax,
  graceMsDefault,
  heartbeatMs,
  nextTurn,
  SluiceError,
  systemClock,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { PlainQueue } from '../queue/plain-queue.ts'
import { HandlerRun, type RunOwner } from './handler-run.ts'
import { LoopWatch } from './loop-watch.ts'
import { type RunningWorker, type UnacknowledgedRun, WorkTally } from './work-tally.ts'
import type { StopOptions, Worker, WorkerOptions } from './worker.ts'
import { type HealthInputs, healthOf, type WorkerHealth } from './worker-health.ts'
import { type CheckedWorkerOptions, checkWorkerOptions } from './worker-options.ts'

/** How long handlers have between the abort of their signals and being abandoned. */
const settleMs = 1_000

/** How much longer real time may take than a clock that was given. */
const slackMs = 250

/** The loops of a worker: each takes a key, runs the handler, and takes the next. */
class QueueWorker<T> implements Worker {
  readonly #queue: PlainQueue<T>
  readonly #core: QueueCore
  readonly #tally: WorkTally
  readonly #options: CheckedWorkerOptions<T>
  readonly #group = { isStopping: false }
  readonly concurrency: number
  readonly #runs = new Set<HandlerRun<T>>()
  /** Runs whose handlers have returned, until their finishes are acknowledged. */
  readonly #finishing = new Set<HandlerRun<T>>()
  readonly #working: RunningWorker
  readonly stopped: Promise<void>
  readonly #loopWatch: LoopWatch
  #beatAt = 0
  #phase: HealthInputs['phase'] = 'running'
  #onIdle: (() => void)[] = []
  #idleCheck: Promise<void> | undefined
  /** Something changed while an idle check was in flight. */
  #mustCheckAgain = false

  /** The methods for runs; not members of the worker, which users call. */
  readonly #owner: RunOwner

  constructor(options: CheckedWorkerOptions<T>) {
    const { queue, concurrency, blockedMs } = options
    this.#queue = queue
    this.#core = queue.core
    this.#options = options
    this.concurrency = concurrency
    this.#owner = {
      concurrency,
      isEnding: () => this.#group.isStopping || this.#isClosing(),
      onStarted: (run) => this.#runs.add(run as HandlerRun<T>),
      onFinishing: (run) => this.#onFinishing(run),
      onAcknowledged: (run) => this.#acknowledged(run),
    }
    const { clock } = this.#core.calls.handle
    const timer = clock.startTimer(heartbeatMs, () => {
      timer.reset(heartbeatMs)
      void this.#heartbeat()
      // Another process may have taken the keys that were due at the last check.
      this.#checkIdle()
    })
    // Handlers in all slots may wait for nothing that keeps the process alive, such as their signals.
    if (this.#core.calls.options.ref) timer.ref()
    this.#working = { concurrency, runs: this.#runs, timer }
    this.#tally = WorkTally.of(this.#core)
    this.#tally.begin(this.#working)
    this.#core.calls.notice('worker-started', { concurrency })
    this.#core.calls.log(`a worker starts, with concurrency ${concurrency}`)
    this.#loopWatch = new LoopWatch({
      clock,
      blockedMs,
      keys: () => [...this.#runs].map(({ key }) => key),
      onBlocked: (block, error) => {
        this.#core.calls.notice('loop-blocked', block)
        this.#core.calls.report(error)
      },
    })
    void this.#heartbeat()
    const loops = Array.from({ length: concurrency }, () => this.#loop())
    this.stopped = this.#finished(loops).then(
      () => this.#ended('stopped', concurrency),
      (error: unknown) => {
        // A permanent error of one loop ends all of them.
        this.#dismiss()
        this.#ended('failed', concurrency)
        this.#core.calls.report(error)
        throw error
      },
    )
    // Awaiting it is optional: `onError` is called with its error, and the health shows it.
    this.stopped.catch(() => undefined)
  }

  #ended(phase: 'stopped' | 'failed', concurrency: number): void {
    this.#phase = phase
    this.#working.timer.stop()
    this.#loopWatch.stop()
    this.#core.calls.notice('worker-stopped', { concurrency })
    this.#core.calls.log('the worker has stopped')
    this.#tally.end(this.#working)
    void this.#unregister()
  }

  /**
   * Registers the worker as one that takes no more keys, with its last runs. Only the end of the queue waits for
   * that, and no call fails by it.
   */
  async #unregister(): Promise<void> {
    if (this.#core.phase === 'closed' || !this.#core.calls.handle.isOpen) return
    try {
      await this.#core.backend.unregister()
    } catch {
      // Without heartbeats the store soon drops the worker from its list.
    }
  }

  /** Registers the worker as alive. Only the list of workers depends on it. */
  async #heartbeat(): Promise<void> {
    this.#beatAt = this.#core.calls.handle.clock.monotonicMs()
    // Handlers may run for long while a queue drains, or within the grace of its close.
    if (this.#core.phase === 'closed') return
    try {
      await this.#core.claims.heartbeat()
    } catch (error) {
      this.#core.calls.reportTrouble(error)
    }
  }

  /** Resolves when every loop has ended and every finish is acknowledged. */
  async #finished(loops: readonly Promise<void>[]): Promise<void> {
    await Promise.all(loops)
    while (this.#finishing.size > 0) await this.#tally.nextAcknowledgement()
  }

  get running(): number {
    return this.#runs.size
  }

  get finishing(): number {
    return this.#finishing.size
  }

  health(): WorkerHealth {
    return healthOf({
      core: this.#core,
      loopWatch: this.#loopWatch,
      beatAt: this.#beatAt,
      phase: this.#phase,
      running: this.running,
      finishing: this.finishing,
    })
  }

  /** One slot. A single function, since each async call takes as long as the rest of a run. */
  async #loop(): Promise<void> {
    const tally = this.#tally
    while (!this.#group.isStopping) {
      if (!this.#hasRoom()) {
        await tally.nextAcknowledgement()
        continue
      }
      tally.active += 1
      try {
        const getting = this.#queue.getFor(this.#group)
        this.#checkIdle()
        const held = await getting
        if (held !== undefined) {
          // The key was added again, and came before its last run was acknowledged. A map that is empty is not
          // asked: for the look the engine may intern the text, which takes as long as the rest of a run.
          const { finishing } = tally
          const last = finishing.size === 0 ? undefined : finishing.get(held.key)
          if (last !== undefined) await last.acknowledgement()
          const run = new HandlerRun<T>(this.#core, this.#options, held, this.#owner)
          await run.run()
          const turn = this.#loopWatch.handedBack()
          this.#runs.delete(run)
          this.#checkIdle()
          if (turn !== undefined) await turn
          continue
        }
      } catch (error) {
        if (!this.#group.isStopping) throw error
      } finally {
        tally.active -= 1
      }
      // Of a queue that has ended, only keys that are held can come back.
      if (this.#owner.isEnding() || this.#core.helds.size === 0) return
      await this.#core.lifecycle.nextGivenBack()
    }
  }

  /**
   * Whether a slot may take a key. Handlers that run, finishes without an acknowledgement and keys
   * that were claimed ahead are bounded together, so that a store that does not answer stops the
   * worker.
   */
  #hasRoom(): boolean {
    const { active, finishing, slots } = this.#tally
    return active + finishing.size < slots + this.#core.claims.beyondSlotsMax
  }

  #onFinishing(run: UnacknowledgedRun): void {
    this.#finishing.add(run as HandlerRun<T>)
    this.#tally.finishing.set(run.key, run)
  }

  #acknowledged(run: UnacknowledgedRun): void {
    const { claims } = this.#core
    const { finishing } = this.#tally
    this.#finishing.delete(run as HandlerRun<T>)
    if (finishing.get(run.key) === run) finishing.delete(run.key)
    this.#tally.wakeLoops()
    claims.onAcknowledged()
    this.#checkIdle()
  }

  #isClosing(): boolean {
    const { phase } = this.#core
    return phase === 'closing' || phase === 'closed'
  }

  async stop(options: StopOptions = {}): Promise<void> {
    checkObject('options', options, ['graceMs'])
    const { graceMs = graceMsDefault } = options
    checkNumber('graceMs', graceMs, { min: 0, max: delayMsMax })
    if (this.#phase === 'running') this.#phase = 'stopping'
    this.#dismiss()
    // Another worker of this queue object, which may start them too, claims them again.
    const release = () => this.#core.claims.releasePrefetched()
    void release()
    // Once more, to wait for the keys that the last loops gave back without starting them.
    const ended = this.stopped.then(release, release)
    if (await this.#endsWithin(ended, graceMs)) return
    const error = new SluiceError('ERR_CLOSING', 'the worker stops: stop working on this key')
    for (const run of this.#runs) run.abort(error)
    if (await this.#endsWithin(ended, settleMs)) return
    this.#abandonAll()
    await this.#endsWithin(ended, slackMs)
  }

  /**
   * Leaves the keys of handlers that do not stop, and those whose finishes are not acknowledged, and
   * names them in one error.
   */
  #abandonAll(): void {
    const keys = [...this.#runs].filter((run) => run.abandon() !== undefined).map(({ key }) => key)
    for (const run of [...this.#finishing]) {
      run.giveUp()
      keys.push(run.key)
    }
    this.#core.calls.reportLeft(keys, 'the worker of queue', 'stopped')
  }

  #dismiss(): void {
    this.#group.isStopping = true
    this.#core.dismiss(this.#group)
    this.#tally.wakeLoops()
  }

  /**
   * Whether something ends within `ms`; in real time, too, where a clock was given that stands
   * still.
   */
  #endsWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
    const { clock } = this.#core.calls.handle
    return new Promise((resolve) => {
      const timers = [clock.startTimer(ms, () => resolve(false))]
      if (clock !== systemClock) {
        timers.push(systemClock.startTimer(ms + slackMs, () => resolve(false)))
      }
      for (const timer of timers) timer.ref()
      void ended.then(() => {
        for (const timer of timers) timer.stop()
        resolve(true)
      })
    })
  }

  async runUntilIdle(): Promise<void> {
    // It would resolve at once, with keys left.
    if (this.#isClosing()) throw this.#core.calls.closedError()
    if (this.#group.isStopping && this.#phase !== 'failed') {
      throw new SluiceError(
        'ERR_CLOSED',
        'the worker was stopped, as runUntilIdle does at its end; make a new one with createWorker',
      )
    }
    await new Promise<void>((resolve, reject) => {
      this.#onIdle.push(resolve)
      this.stopped.then(resolve, reject)
      this.#checkIdle()
    })
    await this.stop()
  }

  /** Checks whether nothing is due and nothing is running, if a caller waits for that. */
  #checkIdle(): void {
    if (this.#onIdle.length === 0 || this.running + this.finishing > 0) return
    if (this.#idleCheck !== undefined) {
      this.#mustCheckAgain = true
      return
    }
    this.#idleCheck = this.#isIdle()
      .then((isIdle) => {
        if (!isIdle) return
        const waiting = this.#onIdle
        this.#onIdle = []
        for (const resolve of waiting) resolve()
      })
      .catch((error: unknown) => this.#core.calls.reportTrouble(error))
      .finally(() => {
        this.#idleCheck = undefined
        if (!this.#mustCheckAgain) return
        this.#mustCheckAgain = false
        this.#checkIdle()
      })
  }

  async #isIdle(): Promise<boolean> {
    const { backend, inspection } = this.#core
    do {
      // A key whose item is being checked is neither due nor running.
      await inspection?.answered()
      if (!(await backend.isDrained(await backend.now()))) return false
      // A key that was handed out just now has not begun to run.
      await new Promise<void>(nextTurn)
    } while (inspection?.isBusy === true)
    return this.running + this.finishing === 0 && !this.#mustCheckAgain
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

/**
 * Makes a worker and starts it: it takes keys from the queue and runs the handler for each, the
 * loop of a controller done right.
 *
 * Throws for bad options only. An error of a handler never stops the worker.
 */
export function createWorker<T>(options: WorkerOptions<T>): Worker {
  return new QueueWorker<T>(checkWorkerOptions(options))
}
