import {
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
  nextTurn,
  noToken,
  type Operate,
  SluiceRangeError,
  SluiceTypeError,
  safeListener,
  type Transfer,
  type TransferRow,
} from '@sluice/core'
import { transferRow } from '@sluice/core/driver'
import { defaultRetryPlan } from '../core/retry-plans.ts'
import { DriverHandle, type HandleUser } from '../driver/driver-handle.ts'
import { vanished } from '../driver/remarks.ts'
import { isTransient, retryDelayMs } from '../driver/retryable.ts'
import { randomName } from '../environment/environment.ts'
import { pageKeysMax } from '../inspect/page-keys-max.ts'
import { damagedItem } from './damaged-item.ts'
import { moveMarkOf, setMoveMark } from './move-mark.ts'
import { transferBatches } from './transfer-batches.ts'
import { enteringBucket, enteringRow, leavingBucket, leavingRow } from './transfer-instants.ts'
import { operateOf, transferOf } from './transfer-of.ts'

/** A queue at which a worker was seen within this time is in use. */
const usedWithinMs = 60_000

/** How often a move looks whether everything was given back. */
const pollMs = 200

/** Which queues to move, and where to. */
export interface MoveQueuesOptions {
  readonly from: Driver
  readonly to: Driver
  /** The names of the queues to move. Default: all that there are, by name. */
  readonly queues?: readonly string[] | undefined
  /**
   * Whether keys of the queues are handed out in the new store once they are there. Default true,
   * except for queues that were paused before, in either store. Those stay paused.
   */
  readonly resume?: boolean | undefined
  /** Interrupts the move; the same call made again continues it. */
  readonly signal?: AbortSignal | undefined
  /** Called with the progress after each batch of keys, of a thousand at most. What it throws is printed. */
  readonly onProgress?: ((moved: MovedQueue) => void) | undefined
  /** The clock that both stores follow. Default: each its own. */
  readonly clock?: Clock | undefined
}

/** How many keys of one queue were moved. */
export interface MovedQueue {
  readonly queue: string
  readonly moved: number
}

/** How often a move that makes no progress is tried, for at most a minute if the store answers at once. */
const triesMax = 60

/** The wait between two tries: a key may be locked by another session, or a server fail over. */
const triesDelay = { first: pollMs, longest: 1_000 }

/** One of the two stores: open as long as the move lasts. */
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
    // The answer has the difference between the store's time and its wall clock.
    await this.driver.counts('', { cap: 1 })
  }

  async leave(): Promise<void> {
    await this.store.leave(this)
  }

  wake(): void {
    // Nothing waits here.
  }

  report(): void {
    // Only a watch that could not be started is reported, and nothing waits for one here.
  }

  pause(ms = pollMs): Promise<void> {
    return new Promise((resolve) => {
      this.store.clock.startTimer(ms, resolve).ref()
    })
  }
}

/** Repeats a part of a move through trouble of a store. Progress, as `moved` counts it, resets the tries. */
async function throughTrouble<R>(
  from: Side,
  signal: AbortSignal | undefined,
  attempt: () => Promise<R>,
  moved: () => number,
): Promise<R> {
  let before = 0
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (moved() > before) tries = 1
      if (tries === triesMax || !isTransient(error)) throw error
    }
    before = moved()
    signal?.throwIfAborted()
    await from.pause(retryDelayMs(tries, triesDelay))
  }
}

/** Moves one queue. Every step may be repeated, and so may all of them. */
class QueueMove {
  readonly #from: Side
  readonly #to: Side
  readonly #queue: string
  readonly #signal: AbortSignal | undefined
  #moved = 0
  /** Keys up to this one were moved, but for those that changed or came meanwhile. */
  #cursor: string | undefined

  constructor(from: Side, to: Side, queue: string, signal: AbortSignal | undefined) {
    this.#from = from
    this.#to = to
    this.#queue = queue
    this.#signal = signal
  }

  /** Continues through trouble of a store: meanwhile the queue is paused on both sides. */
  run(resume: boolean, onProgress: MoveQueuesOptions['onProgress']): Promise<MovedQueue> {
    const attempt = () => this.#try(resume, onProgress)
    return throughTrouble(this.#from, this.#signal, attempt, () => this.#moved)
  }

  async #try(resume: boolean, onProgress: MoveQueuesOptions['onProgress']): Promise<MovedQueue> {
    const queue = this.#queue
    const resumes = await this.#mark()
    // Nothing is handed out on either side while keys are under way.
    await this.#from.operate.pause(queue)
    await this.#to.operate.pause(queue)
    await this.#givenBack()
    await this.#raiseTokens()
    for (;;) {
      this.#signal?.throwIfAborted()
      const before = this.#moved
      if (!(await this.#movePage(onProgress))) break
      // Producers keep changing the keys, or the queue was resumed: the next page is taken later.
      if (this.#moved === before) await this.#from.pause()
    }
    // Once more: the source may have been resumed meanwhile, and have given out more tokens.
    await this.#raiseTokens()
    if (resume && resumes) {
      await this.#to.operate.resume(queue)
      this.#to.store.wake(queue)
    }
    if (resume) await setMoveMark(this.#from.driver, queue, { resumes, hasEnded: true })
    return { queue, moved: this.#moved }
  }

  /**
   * Marks the queue in the source. Returns whether the new store is to hand out its keys at the
   * end: not if the queue had been paused there, or in the old store. A queue that is in use in the
   * new store stays so.
   */
  async #mark(): Promise<boolean> {
    const queue = this.#queue
    const from = this.#from.driver
    const to = this.#to.driver
    const there = await from.counts(queue, { cap: 1 })
    const earlier = await moveMarkOf(from, queue)
    const { resumes: decided, hasEnded } = there.paused ? earlier : {}
    let resumes = typeof decided === 'boolean' ? decided : undefined
    // The queue may have been paused, or resumed, in the new store since the earlier move.
    if (hasEnded === true) {
      resumes = decided === true ? !(await to.counts(queue, { cap: 1 })).paused : undefined
    }
    resumes ??= await this.#mayResume(there.paused)
    const moveId = randomName()
    await setMoveMark(from, queue, { resumes, moveId })
    // Two drivers may have one store by different addresses. To drop there what was "moved" would
    // delete it.
    if ((await moveMarkOf(to, queue))['moveId'] === moveId) {
      await setMoveMark(from, queue, earlier)
      throw sameStore()
    }
    return resumes
  }

  async #mayResume(isPausedThere: boolean): Promise<boolean> {
    const { driver } = this.#to
    const here = await driver.counts(this.#queue, { cap: 1 })
    const isInUse = !here.paused && (await isUsed(driver, this.#queue, here))
    return isInUse || !(isPausedThere || here.paused)
  }

  /** Moves the next keys, after the last ones the first; `false` if there are none. */
  async #movePage(onProgress: MoveQueuesOptions['onProgress']): Promise<boolean> {
    const { driver, transfer } = this.#from
    const { driver: to, transfer: target } = this.#to
    const limit = pageKeysMax(driver)
    let page = await driver.list(this.#queue, { cursor: this.#cursor, limit })
    if (page.rows.length === 0 && this.#cursor !== undefined) {
      page = await driver.list(this.#queue, { limit })
    }
    const { rows, cursor } = page
    if (rows.length === 0) return false
    if (rows.some(({ token }) => token !== noToken)) {
      // The queue was resumed meanwhile.
      await this.#from.operate.pause(this.#queue)
      await this.#givenBack()
      return true
    }
    for (const moving of transferBatches(rows.map(transferRow), driver, to)) {
      this.#signal?.throwIfAborted()
      checkItems(this.#queue, moving)
      const entering = moving.map((row) => enteringRow(to, leavingRow(driver, row)))
      await target.importRows(this.#queue, entering)
      // A key that has changed since it was listed stays, and is listed and merged once more.
      const outcomes = await transfer.dropRows(this.#queue, moving)
      this.#moved += outcomes.filter((outcome) => outcome === 'dropped').length
      onProgress?.({ queue: this.#queue, moved: this.#moved })
      // Stores in this process answer at once, and would block it, and the signal, until the last key.
      await new Promise<void>(nextTurn)
    }
    this.#cursor = cursor
    return true
  }

  /** Fencing numbers of the target continue above those that the source has given out so far. */
  async #raiseTokens(): Promise<void> {
    await this.#to.transfer.raiseTokens(await this.#from.transfer.lastToken())
  }

  /** Waits until no process holds a key of the source. Expired leases are ended. */
  async #givenBack(): Promise<void> {
    const { driver } = this.#from
    for (;;) {
      this.#signal?.throwIfAborted()
      const { leaseEnds } = await driver.tick(this.#queue, {
        holder: 'move-queues',
        limit: batchKeysMax,
        failuresExpireMs: failuresExpireMsDefault,
      })
      if (leaseEnds.length > 0) {
        await driver.expire(this.#queue, leaseEnds, {
          dedupe: 'client-go',
          plan: defaultRetryPlan,
          maxCrashes: crashesMaxDefault,
          error: vanished,
        })
        continue
      }
      const { processing, dirty } = await driver.counts(this.#queue, { cap: 1 })
      if (processing + dirty === 0) return
      await this.#from.pause()
    }
  }
}

function checkQueueNames(queues: readonly string[]): void {
  if (!Array.isArray(queues)) throw new SluiceTypeError('queues', 'must be an array of names')
  for (const [at, name] of queues.entries()) checkQueueName(`queues[${at}]`, name, { empty: true })
}

function sameStore(): SluiceTypeError {
  return new SluiceTypeError('to', 'must be another store than from')
}

/** No queue object could be made for the keys that were moved. */
function withoutName({ name }: Driver): SluiceRangeError {
  return new SluiceRangeError(
    'queues',
    `must all have a name in ${name}: export the queue without one, and import it into one with a name`,
  )
}

/** Keys without their items must not arrive as if they had none, and were their own items. */
function checkItems(queue: string, rows: readonly TransferRow[]): void {
  const lost = rows.find(({ item }) => item === '')
  if (lost === undefined) return
  throw damagedItem(queue, lost.key, { what: 'is lost in the source', call: 'move' })
}

/** Whether anything is stored of a queue, or a worker of it was seen recently. */
async function isUsed(driver: Driver, queue: string, counts: Counts): Promise<boolean> {
  if (keyStateWords.some((word) => counts[word] > 0)) return true
  return ((await driver.workers?.(queue, usedWithinMs)) ?? []).length > 0
}

/**
 * Moves queues from one store to another with everything that is stored of them: times (by the wall
 * clock, so that keys stay due when they were), positions in the order, failures, priorities,
 * parked keys, buckets, and fencing numbers that keep rising.
 *
 * Pauses each queue in both stores, waits until all held keys were given back, moves the keys, and
 * resumes the queue in the new store, unless it had been paused before; in the old one it stays
 * paused. Producers may add to either store meanwhile; keys that are added to the old store after
 * the end are moved by another call. If a store becomes unreachable, as in a failover, the move waits for
 * up to a minute. A move that was interrupted at any point is continued by the same call: no key is
 * lost, and none runs twice for it.
 */
export async function moveQueues(options: MoveQueuesOptions): Promise<readonly MovedQueue[]> {
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
  const tell =
    onProgress === undefined
      ? undefined
      : safeListener('the onProgress of moveQueues', checkFunction('onProgress', onProgress))
  checkObject('from', options.from)
  checkObject('to', options.to)
  if (options.from === options.to) throw sameStore()
  const from = new Side('from', options.from, clock)
  const to = new Side('to', options.to, clock)
  try {
    await from.open()
    await to.open()
    const begin = async (): Promise<readonly string[]> => {
      const all = await from.driver.queues?.()
      const names = queues ?? all?.filter((name) => !name.startsWith(bookNamePrefix)).sort()
      if (names === undefined) {
        throw new SluiceTypeError('queues', `must be given: ${from.driver.name} has no list`)
      }
      const { durable, shared } = to.driver.capabilities
      if ((durable || shared) && names.includes('')) throw withoutName(to.driver)
      const buckets = (await from.driver.buckets?.()) ?? []
      await to.transfer.importBuckets(
        buckets.map((bucket) => enteringBucket(to.driver, leavingBucket(from.driver, bucket))),
      )
      return names
    }
    const names = await throughTrouble(from, signal, begin, () => 0)
    const done: MovedQueue[] = []
    for (const queue of names) {
      done.push(await new QueueMove(from, to, queue, signal).run(resume, tell))
    }
    return done
  } finally {
    try {
      await from.leave()
    } finally {
      await to.leave()
    }
  }
}
