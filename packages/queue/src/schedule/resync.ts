import {
  batchKeysMax,
  type Clock,
  canonicalJson,
  checkFunction,
  checkNumber,
  checkObject,
  checkPriority,
  type JsonSafe,
  SluiceError,
  safeListener,
  systemClock,
} from '@sluice/core'
import { checkClock } from '../queue/options.ts'
import type { AddAfterOptions } from '../queue/queue.ts'
import { lowPriority } from '../worker/worker.ts'

/** The items of a pass: an array, anything that can be iterated, or a promise of one. */
export type ResyncList<T> = Iterable<T> | AsyncIterable<T> | Promise<Iterable<T> | AsyncIterable<T>>

/** Options of {@link resync}. */
export interface ResyncOptions<T> {
  /** The queue, which needs `addAfter`. */
  readonly queue: {
    addAfter(item: T & JsonSafe<T>, ms: number, options?: AddAfterOptions): Promise<unknown>
  }
  /** All items that exist now; called twice in each `everyMs`. */
  readonly list: () => ResyncList<T>
  /** How often each item is added, in milliseconds: from 1 to 2,147,483,647 (24.8 days). */
  readonly everyMs: number
  /** The priority of the adds. Default {@link lowPriority}, so that changes come first. */
  readonly priority?: number | undefined
  /**
   * Called with errors of `list` and of the queue, after which the pass is repeated, and of items that the
   * queue refuses, after which it goes on. Default: the console.
   */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
}

/** A resync that runs. */
export interface Resync {
  /** Ends it, and waits for the pass in progress. Keys that were added stay. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const members = ['queue', 'list', 'everyMs', 'priority', 'onError', 'clock']

/** The longest time that a timer of the runtime can hold, in milliseconds. */
const everyMsMax = 2 ** 31 - 1

/**
 * How often items are listed in each period. An item that is ready, or runs, while a pass asks for its
 * next turn may lose that turn to the merge; the next pass asks again.
 */
const passesPerPeriod = 2

/** How long to wait after a pass that failed, at first and at most, in milliseconds. */
const retryMs = { first: 1_000, longest: 60_000 }

/**
 * Adds every item once in each `everyMs`, spread over that time: every item has a phase of its own,
 * which depends on its value only. So a restart does not add everything at once, and several processes
 * that resync the same items ask for the same runs, which are merged: no leader is needed.
 *
 * Items are listed at once, and then twice in each `everyMs`; each pass asks for the next turn of each
 * item. To have every item run at the start, add all of them as well.
 */
export function resync<T>(options: ResyncOptions<T>): Resync {
  checkObject('options', options, members)
  const { queue, list, everyMs, priority = lowPriority, clock = systemClock } = options
  checkObject('queue', queue)
  checkFunction('queue.addAfter', queue.addAfter)
  checkFunction('list', list)
  checkNumber('everyMs', everyMs, { min: 1, max: everyMsMax })
  checkPriority('priority', priority)
  checkClock(clock)
  if (options.onError !== undefined) checkFunction('onError', options.onError)
  const report = safeListener(
    'the onError of resync',
    options.onError ?? ((error) => console.error('sluice: resync failed:', error)),
  )
  const state = { isStopped: false, endWait: (): void => {} }

  /** An item that no queue can have is reported: it must not cost those after it their turns. */
  async function add(item: T): Promise<void> {
    try {
      const delayMs = msUntilTurn(item, everyMs, clock.now())
      await queue.addAfter(item as T & JsonSafe<T>, delayMs, { priority })
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_INVALID_INPUT')) throw error
      report(error)
    }
  }

  async function pass(): Promise<void> {
    let adds: Promise<void>[] = []
    for await (const item of await list()) {
      if (state.isStopped) break
      const adding = add(item)
      // The next item may take long to come; the error is thrown at the end of the batch.
      adding.catch(() => undefined)
      adds.push(adding)
      if (adds.length < batchKeysMax) continue
      const batch = adds
      adds = []
      await allOf(batch)
    }
    await allOf(adds)
  }

  function wait(ms: number): Promise<void> {
    if (state.isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = clock.startTimer(ms, resolve)
      state.endWait = () => {
        timer.stop()
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!state.isStopped) {
      const startedAt = clock.monotonicMs()
      try {
        await pass()
        failures = 0
        await wait(Math.max(0, everyMs / passesPerPeriod - (clock.monotonicMs() - startedAt)))
      } catch (error) {
        if (isOver(error)) return
        report(error)
        const ms = Math.min(retryMs.first * 2 ** failures, retryMs.longest, everyMs)
        failures += 1
        await wait(ms)
      }
    }
  }

  const ended = run()
  async function stop(): Promise<void> {
    state.isStopped = true
    state.endWait()
    await ended
  }
  return { stop, [Symbol.asyncDispose]: stop }
}

/** The first error after all of them have ended, so that no rejection is left unhandled. */
async function allOf(adds: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(adds)
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason
  }
}

/** The queue has ended, and the resync with it. */
function isOver(error: unknown): boolean {
  return SluiceError.is(error, 'ERR_SHUT_DOWN') || SluiceError.is(error, 'ERR_CLOSED')
}

/** How long it is until the next turn of an item, by the wall clock: above 0, at most `everyMs`. */
function msUntilTurn(item: unknown, everyMs: number, now: number): number {
  const text = typeof item === 'string' ? item : canonicalJson(item, 'item')
  const phaseMs = (hashOf(text) / 2 ** 32) * everyMs
  // The remainder is below 0 while the clock is before the first turn, as one that begins at 0.
  const sinceMs = (((now - phaseMs) % everyMs) + everyMs) % everyMs
  return everyMs - sinceMs
}

/** FNV-1a, which spreads names that differ in their last letters, with a final mix. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
