import {
  type Awaitable,
  batchKeysMax,
  bookNamePrefix,
  type Clock,
  type Counts,
  checkBoolean,
  checkFunction,
  checkObject,
  checkQueueName,
  checkSignal,
  crashesMaxDefault,
  type Driver,
  failuresExpireMsDefault,
  keyStateWords,
  noToken,
  type Operate,
  SluiceError,
  SluiceTypeError,
  type Transfer,
  transferRow,
} from '@sluice/core'
import { defaultRetryPlan } from '../core/retry-plans.ts'
import { DriverHandle, type HandleUser } from '../driver/driver-handle.ts'
import { markOf, setMark } from './move-mark.ts'
import { enteringBucket, enteringRow, leavingBucket, leavingRow } from './transfer-instants.ts'
import { operateOf, transferOf } from './transfer-of.ts'

/** A queue at which a worker was seen within this time is in use. */
const usedWithinMs = 60_000

/** How often a migration looks whether everything was given back. */
const pollMs = 200

/** What to move, and where to. */
export interface MigrateOptions {
  readonly from: Driver
  readonly to: Driver
  /** The names of the queues to move. Default: all that there are. */
  readonly queues?: readonly string[]
  /**
   * Whether the queues are handed out at their new place when they are there. Default true, but for
   * queues that were paused before, at either place. Those stay so.
   */
  readonly resume?: boolean
  /** Ends the migration where it stands; it can be gone on with. */
  readonly signal?: AbortSignal
  /** Told how far it is, after each page. */
  readonly onProgress?: (moved: MigratedQueue) => void
  /** The clock that both stores obey. Default: each its own. */
  readonly clock?: Clock
}

/** What was moved of one queue. */
export interface MigratedQueue {
  readonly queue: string
  readonly moved: number
}

/** How often what a busy store refuses is asked for again. */
const triesMax = 50

/** One store that takes part: open as long as the migration lasts. */
class Side implements HandleUser {
  readonly name = ''
  readonly driver: Driver
  readonly operate: Operate
  readonly transfer: Transfer
  readonly store: DriverHandle

  constructor(parameter: string, driver: Driver, clock: Clock | undefined) {
    this.driver = driver
    this.operate = operateOf(parameter, driver)
    this.transfer = transferOf(parameter, driver)
    this.store = DriverHandle.of(driver, clock)
  }

  async open(): Promise<void> {
    this.store.join(this)
    await this.store.open()
    // The answer says by how much the store's time is ahead of its wall clock.
    await this.driver.counts('', { cap: 1 })
  }

  async leave(): Promise<void> {
    await this.store.leave(this)
  }

  wake(): void {
    // Nothing waits here.
  }

  report(): void {
    // Watching is no matter here, and nothing else is reported.
  }
}

/** Moves one queue. Every step may be repeated, and so may all of them. */
class QueueMove {
  readonly #from: Side
  readonly #to: Side
  readonly #queue: string
  readonly #signal: AbortSignal | undefined

  constructor(from: Side, to: Side, queue: string, signal: AbortSignal | undefined) {
    this.#from = from
    this.#to = to
    this.#queue = queue
    this.#signal = signal
  }

  async run(resume: boolean, onProgress: MigrateOptions['onProgress']): Promise<MigratedQueue> {
    const queue = this.#queue
    const resumes = await this.#settle()
    // Nothing is handed out on either side while keys are under way.
    await this.#from.operate.pause(queue)
    await this.#to.operate.pause(queue)
    await this.#givenBack()
    await this.#raiseTokens()
    let moved = 0
    for (;;) {
      this.#signal?.throwIfAborted()
      const page = await this.#moveSome()
      if (page === undefined) break
      // Producers keep changing the keys, or the queue was resumed: the stores are not asked at once.
      if (page === 0) await this.#pause()
      moved += page
      onProgress?.({ queue, moved })
    }
    // Once more: the source may have been resumed meanwhile, and have given out more.
    await this.#raiseTokens()
    if (resume && resumes) {
      await this.#to.operate.resume(queue)
      this.#to.store.wake(queue)
    }
    return { queue, moved }
  }

  /**
   * Whether the queue is handed out at its new place at the end: not if somebody had paused it, at
   * the old one or at the new. One that is handed out there already goes on being so.
   */
  async #settle(): Promise<boolean> {
    const queue = this.#queue
    const from = this.#from.driver
    const to = this.#to.driver
    const there = await from.counts(queue, { cap: 1 })
    const settled = there.paused ? await markOf(from, queue) : undefined
    if (settled !== undefined) return settled
    const here = await to.counts(queue, { cap: 1 })
    const isInUse = !here.paused && (await isUsed(to, queue, here))
    const resumes = isInUse || !(there.paused || here.paused)
    await setMark(from, queue, resumes)
    return resumes
  }

  /** Asks again for what a busy store refuses: somebody else's transaction may have a key locked. */
  async #patiently<R>(verb: () => Awaitable<R>): Promise<R> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await verb()
      } catch (error) {
        if (tries === triesMax || !SluiceError.is(error, 'ERR_STORE_BUSY')) throw error
      }
      this.#signal?.throwIfAborted()
      await this.#pause()
    }
  }

  /** Moves the first keys there are; `undefined` if there are none. */
  async #moveSome(): Promise<number | undefined> {
    const { driver, transfer } = this.#from
    const { rows } = await driver.list(this.#queue, { limit: batchKeysMax })
    if (rows.length === 0) return undefined
    if (rows.some(({ token }) => token !== noToken)) {
      // The queue was resumed meanwhile.
      await this.#from.operate.pause(this.#queue)
      await this.#givenBack()
      return 0
    }
    const moving = rows.map(transferRow)
    const { driver: to, transfer: target } = this.#to
    const entering = moving.map((row) => enteringRow(to, leavingRow(driver, row)))
    await this.#patiently(() => target.importRows(this.#queue, entering))
    // What was changed since it was listed stays, and is listed and merged once more.
    const outcomes = await this.#patiently(() => transfer.dropRows(this.#queue, moving))
    return outcomes.filter((outcome) => outcome === 'dropped').length
  }

  /** Fencing numbers of the target go on above those that the source has given out by now. */
  async #raiseTokens(): Promise<void> {
    await this.#to.transfer.raiseTokens(await this.#from.transfer.lastToken())
  }

  /** Waits until no process holds a key of the source. Expired leases are ended. */
  async #givenBack(): Promise<void> {
    const { driver } = this.#from
    for (;;) {
      this.#signal?.throwIfAborted()
      const { leaseEnds } = await driver.tick(this.#queue, {
        holder: 'migrate',
        limit: batchKeysMax,
        failuresExpireMs: failuresExpireMsDefault,
      })
      if (leaseEnds.length > 0) {
        await driver.expire(this.#queue, leaseEnds, {
          dedupe: 'client-go',
          plan: defaultRetryPlan,
          maxCrashes: crashesMaxDefault,
        })
        continue
      }
      const { processing, dirty } = await driver.counts(this.#queue, { cap: 1 })
      if (processing + dirty === 0) return
      await this.#pause()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#from.store.clock.startTimer(pollMs, resolve)
      timer.ref()
    })
  }
}

function checkQueueNames(queues: readonly string[]): void {
  if (!Array.isArray(queues)) throw new SluiceTypeError('queues', 'must be an array of names')
  for (const [at, name] of queues.entries()) checkQueueName(`queues[${at}]`, name, { empty: true })
}

/** Whether anything is stored of a queue, or a worker was seen at it lately. */
async function isUsed(driver: Driver, queue: string, counts: Counts): Promise<boolean> {
  if (keyStateWords.some((word) => counts[word] > 0)) return true
  return ((await driver.workers?.(queue, usedWithinMs)) ?? []).length > 0
}

/**
 * Moves queues from one store to another with everything that is stored of them: times (those of the
 * wall clock, by which keys stay due when they were), places, failures, priorities, parked keys,
 * buckets, and fencing numbers that go on rising.
 *
 * Pauses each queue on both sides, waits until all held keys were given back, moves the keys, and
 * resumes the queue at its new place, unless somebody had paused it before; at the old one it stays
 * paused. Producers may add on either
 * side meanwhile; what is added at the old place after the end is moved by another migration. One
 * that was interrupted, wherever it was, is gone on with by making it again: nothing is lost, and
 * nothing is worked on twice for it.
 */
export async function migrate(options: MigrateOptions): Promise<readonly MigratedQueue[]> {
  checkObject('options', options, [
    'from',
    'to',
    'queues',
    'resume',
    'signal',
    'onProgress',
    'clock',
  ])
  const { queues, resume = true, signal, onProgress, clock } = options
  checkBoolean('resume', resume)
  if (queues !== undefined) checkQueueNames(queues)
  if (signal !== undefined) checkSignal('signal', signal)
  if (onProgress !== undefined) checkFunction('onProgress', onProgress)
  checkObject('from', options.from)
  checkObject('to', options.to)
  if (options.from === options.to) throw new SluiceTypeError('to', 'must not be the same store')
  const from = new Side('from', options.from, clock)
  const to = new Side('to', options.to, clock)
  try {
    await from.open()
    await to.open()
    const all = await from.driver.queues?.()
    const names = queues ?? all?.filter((name) => !name.startsWith(bookNamePrefix))
    if (names === undefined) {
      throw new SluiceTypeError('queues', `must be given: ${from.driver.name} cannot list them`)
    }
    const buckets = ((await from.driver.buckets?.()) ?? []).map((bucket) =>
      enteringBucket(to.driver, leavingBucket(from.driver, bucket)),
    )
    await to.transfer.importBuckets(buckets)
    const done: MigratedQueue[] = []
    for (const queue of names) {
      done.push(await new QueueMove(from, to, queue, signal).run(resume, onProgress))
    }
    return done
  } finally {
    await from.leave()
    await to.leave()
  }
}
