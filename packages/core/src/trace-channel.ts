import type { Channel } from 'node:diagnostics_channel'
import { diagnosticsChannel } from './diagnostics-channel.ts'
import type { Driver } from './driver/driver.ts'
import { sluiceChannel } from './events.ts'
import { isTrace } from './transitions/trace.ts'

/**
 * The question of a queue for the trace context of its caller, published when a call adds keys, in
 * the asynchronous context of that call: a message of {@link traceChannel}.
 */
export interface TraceRequest {
  /** The queue's name. */
  readonly queue: string
  /** The driver of the queue. */
  readonly source: Driver
  /** The answer: a W3C `traceparent` of version 00, which a subscriber sets before it returns. */
  traceparent?: string | undefined
}

/**
 * The channel on which queues ask tracers for the context of a caller, which is stored with the keys
 * that the call adds. A tracer subscribes to `sluiceChannel` as well: nothing is asked, and nothing
 * stored, unless both have subscribers.
 */
export const traceChannel: Pick<
  Channel,
  'hasSubscribers' | 'publish' | 'subscribe' | 'unsubscribe'
> = diagnosticsChannel()?.channel('sluice:trace-context') ?? {
  // Where the runtime has no channels, as in a browser, nothing can subscribe.
  hasSubscribers: false,
  publish: () => {},
  subscribe: () => {},
  unsubscribe: () => false,
}

/** The trace context of the code that calls; `undefined` without a tracer, or if it has none. */
export function callerTrace(queue: string, source: Driver): string | undefined {
  if (!traceChannel.hasSubscribers || !sluiceChannel.hasSubscribers) return undefined
  const request: TraceRequest = { queue, source }
  traceChannel.publish(request)
  const { traceparent } = request
  return traceparent !== undefined && isTrace(traceparent) ? traceparent : undefined
}
