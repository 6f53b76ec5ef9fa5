import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { Driver } from './driver/driver.ts'

/**
 * The verbs that are traced: those of the driver contract, what a queue itself notices, and what
 * people do by hand (`acted`).
 */
export type TracedVerb =
  | 'open'
  | 'close'
  | 'add'
  | 'cancel'
  | 'claim'
  | 'adopt'
  | 'expire'
  | 'renew'
  | 'finish'
  | 'forget'
  | 'tick'
  | 'counts'
  | 'list'
  | 'operate'
  | 'lease-lost'
  | 'held-dropped'
  | 'loop-blocked'
  | 'limiter-failed'
  | 'add-after'
  | 'worker-started'
  | 'run'
  | 'worker-stopped'
  | 'acted'
  | 'shut-down'
  | 'closed'
  | 'error'

/**
 * What is published of one call of a driver, or of one thing that a queue noticed.
 *
 * It describes what was asked and answered, and leaves it to subscribers to compute. It speaks of
 * the statement: inside a transaction of the caller's, the commit is still to come.
 */
export interface SluiceEvent {
  readonly verb: TracedVerb
  /** The queue's name. */
  readonly queue: string
  /** The driver's name. */
  readonly driver: string
  /**
   * The driver itself, where a queue speaks of it: it tells queues of one name on two stores apart,
   * and says what they can do.
   */
  readonly source?: Driver | undefined
  /** The random name of the queue object. */
  readonly holder: string
  /** What the driver was given: the arguments after the queue's name. */
  readonly request: unknown
  /** What it answered. Set when the call has ended well. */
  result?: unknown
  /** Why it did not. Set when the call has failed. */
  error?: unknown
}

/** The request of a `run` event: a worker hands a held key to its handler. */
export interface RunRequest {
  readonly key: string
  readonly token: number
  /** How many runs have failed before this one. */
  readonly failures: number
  /** How many handlers this worker runs at a time. */
  readonly concurrency: number
}

/** The result of a `run` event, once the key was given back or the handler was abandoned. */
export interface RunResult {
  /** In the words of controller-runtime. */
  readonly result: 'success' | 'error' | 'requeue' | 'requeue_after'
  /** The error says that the key is not to be tried again. */
  readonly isTerminal: boolean
  /** The handler took longer than it may, whatever came of it. */
  readonly isTimedOut: boolean
  /** What the handler threw. */
  readonly error?: unknown
}

/** The request of an `acted` event: somebody has done something by hand, as in a dashboard. */
export interface ActedRequest {
  /** Who did it, as far as is known. */
  readonly who: string
  /** What was done, such as `park` or `purge`. */
  readonly action: string
  /** The key that it was done to; absent if it was done to more than one, or to the queue. */
  readonly key?: string
  /** What came of it, as a sentence. */
  readonly words: string
}

/** The name of the one channel on which Sluice publishes. */
export const channelName = 'sluice'

/**
 * The channel on which everything that happens is published, as `node:diagnostics_channel` tracing
 * events with a {@link SluiceEvent} as context. It costs next to nothing while nobody subscribes.
 */
export const sluiceChannel: TracingChannel<unknown, SluiceEvent> = tracingChannel<
  unknown,
  SluiceEvent
>(channelName)
