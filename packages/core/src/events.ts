import type { TracingChannel } from 'node:diagnostics_channel'
import { diagnosticsChannel } from './diagnostics-channel.ts'
import type { Driver } from './driver/driver.ts'

/**
 * The verbs that are traced: those of the driver contract, events that a queue itself notices, and
 * actions of operators (`acted`).
 */
export type TracedVerb =
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
 * One call of a driver, or one event that a queue noticed.
 *
 * It contains the request and the reply; subscribers do the computing. It describes the statement:
 * inside a transaction of the caller, the commit is still to come.
 */
export interface SluiceEvent {
  readonly verb: TracedVerb
  /** The queue's name. */
  readonly queue: string
  /** The driver's name. */
  readonly driver: string
  /**
   * The driver itself, if a queue publishes: it distinguishes queues of one name on two stores, and
   * has their capabilities.
   */
  readonly source?: Driver | undefined
  /** The random name of the queue object. */
  readonly holder: string
  /** The arguments of the call after the queue's name. */
  readonly request: unknown
  /** The reply. Set when the call has succeeded. */
  result?: unknown
  /** The error. Set when the call has failed. */
  error?: unknown
}

/** The request of a `run` event: a worker passes a held key to its handler. */
export interface RunRequest {
  readonly key: string
  readonly token: number
  /** How many runs have failed before this one. */
  readonly failures: number
  /** How many handlers this worker runs concurrently. */
  readonly concurrency: number
}

/** The result of a `run` event, once the handler has returned or was abandoned. */
export interface RunResult {
  /** In the words of controller-runtime. */
  readonly result: 'success' | 'error' | 'requeue' | 'requeue_after'
  /** The error is terminal: the key is not retried. */
  readonly isTerminal: boolean
  /** The handler exceeded its time limit, whatever its result. */
  readonly isTimedOut: boolean
  /** The value that the handler threw. */
  readonly error?: unknown
}

/** The request of an `acted` event: an operator has changed something, as in the dashboard. */
export interface ActedRequest {
  /** The operator, as far as known. */
  readonly who: string
  /** The action, such as `park` or `purge`. */
  readonly action: string
  /** The key; absent if the action was on several keys or on the queue. */
  readonly key?: string
  /** The result, as a sentence. */
  readonly words: string
}

/** The name of the one channel on which Sluice publishes. */
export const channelName = 'sluice'

/**
 * The type of the channel. Context and store are named alike, since `@types/node` has exchanged the
 * two parameters in a later version.
 */
type SluiceChannel = TracingChannel<SluiceEvent, SluiceEvent>

/**
 * The channel on which all events are published, as `node:diagnostics_channel` tracing events with
 * a {@link SluiceEvent} as context. It costs almost nothing while it has no subscriber.
 */
export const sluiceChannel: TracingChannel<SluiceEvent, SluiceEvent> =
  diagnosticsChannel()?.tracingChannel(channelName) ?? silentChannel()

/** Stands for the channel where the runtime has none, as in a browser: nothing can subscribe. */
function silentChannel(): SluiceChannel {
  const silent = { hasSubscribers: false, subscribe: () => {}, unsubscribe: () => false }
  return silent as Partial<SluiceChannel> as SluiceChannel
}
