import { AsyncLocalStorage } from 'node:async_hooks'
import type { Channel } from 'node:diagnostics_channel'
import {
  type Attributes,
  context,
  type HrTime,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  type Ask,
  type Clock,
  checkFunction,
  checkObject,
  type Driver,
  type Finish,
  type FinishReply,
  mergeTraces,
  type RunRequest,
  type RunResult,
  type SluiceEvent,
  sluiceChannel,
  systemClock,
  type TraceRequest,
  traceChannel,
} from '@sluice/core'
import { eventAttributes } from './event-attributes.ts'
import { markFailed } from './mark-failed.ts'
import { listen } from './recorder/listener.ts'
import { reportTo } from './report-to.ts'
import { contextOf, contextsOf, storedContext, traceparentOf } from './trace-context.ts'
import { version } from './version.ts'

/** Where calls and runs begin, as a channel that stores of any type are bound to. */
const starts = sluiceChannel.start as Channel

/** Options of {@link openTelemetryTracing}. */
export interface TracingOptions {
  /** Makes the spans. Default: that of the global tracer provider. */
  readonly tracer?: Tracer | undefined
  /** Traces only queues on this driver. Default: all drivers of the process. */
  readonly driver?: Driver | undefined
  /** Returns the text to show for a key; `undefined` shows nothing. Default: the key. */
  readonly showKey?: (key: string) => string | undefined
  /** The clock of the queues, if they were given one. Default: the system's. */
  readonly clock?: Clock | undefined
  /** Called with errors of tracing. Default: printed once a minute. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** A running tracer for OpenTelemetry. */
export interface OpenTelemetryTracing {
  /**
   * Wraps a worker's handler so that it runs inside the span of its run, as the parent of the spans
   * that it starts.
   */
  inSpan<F extends (...given: never[]) => unknown>(handler: F): F
  /** Calls `work` inside the span of a key that was claimed without a worker. */
  within<R>(held: { readonly key: string; readonly token: number }, work: () => R): R
  /** Stops tracing. Open spans end now. */
  close(): void
}

/** A key from its claim to its finish. */
interface Processing {
  readonly key: string
  readonly span: Span
  /** A worker runs a handler for the key, and the end of the handler sets the status. */
  hasRun: boolean
}

/** The keys of one queue object, by token. Other queues of its driver may have the same tokens. */
type Held = Map<number, Processing>

interface SeenClaim {
  readonly key: string
  readonly token: number
  readonly failures: number
  readonly trace?: string | undefined
}

/** The queue object of a Held, '' if it is none: a queue on another store may have its key and its token. */
function holderOf(held: object): string {
  const { owner } = held as { readonly owner?: { readonly calls?: { readonly holder?: string } } }
  return owner?.calls?.holder ?? ''
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

class ChannelTracing implements OpenTelemetryTracing {
  readonly #tracer: Tracer
  readonly #clock: Clock
  readonly #driver: Driver | undefined
  readonly #showKey: (key: string) => string | undefined
  readonly #onError: (error: unknown) => void
  /** By holder. */
  readonly #helds = new Map<string, Held>()
  readonly #adds = new WeakMap<SluiceEvent, readonly Span[]>()
  readonly #claimsFrom = new WeakMap<SluiceEvent, HrTime>()
  /** The span of the run around the current code. */
  readonly #current = new AsyncLocalStorage<Span | undefined>()
  readonly #stopListening: () => void

  constructor(options: TracingOptions) {
    this.#tracer = options.tracer ?? trace.getTracer('@sluice/metrics', version)
    this.#clock = options.clock ?? systemClock
    this.#driver = options.driver
    this.#showKey = options.showKey ?? ((key) => key)
    this.#onError = reportTo(options.onError)
    starts.bindStore(this.#current as AsyncLocalStorage<unknown>, (event) =>
      this.#spanFor(event as SluiceEvent),
    )
    this.#stopListening = listen(
      {
        started: (event) => this.#started(event),
        answered: (event) => this.#answered(event),
        failed: (event) => this.#failed(event),
        noticed: (event) => this.#noticed(event),
      },
      this.#onError,
    )
    traceChannel.subscribe(this.#onTraceRequest)
  }

  /** Says in which context keys are added. */
  readonly #onTraceRequest = (message: unknown): void => {
    const request = message as TraceRequest
    if (this.#driver !== undefined && this.#driver !== request.source) return
    const spanContext = trace.getSpanContext(context.active())
    if (spanContext === undefined || !isSpanContextValid(spanContext)) return
    request.traceparent = traceparentOf(spanContext)
  }

  /** The keys of a queue object that calls its driver; created if it is new. */
  #heldFor({ source, holder }: SluiceEvent): Held | undefined {
    if (source === undefined) return undefined
    if (this.#driver !== undefined && this.#driver !== source) return undefined
    const held = this.#helds.get(holder) ?? new Map()
    this.#helds.set(holder, held)
    return held
  }

  #now(): HrTime {
    return hrTime(this.#clock.now())
  }

  #keyAttributes(key: string): Attributes {
    try {
      const shown = this.#showKey(key)
      return shown === undefined ? {} : { 'sluice.key': shown }
    } catch (error) {
      // One key that cannot be shown must not cost the spans of the others.
      this.#onError(error)
      return {}
    }
  }

  /** The span around an event. */
  #spanFor(event: SluiceEvent): Span | undefined {
    if (event.verb !== 'run') return this.#current.getStore()
    const { token } = event.request as RunRequest
    return this.#helds.get(event.holder)?.get(token)?.span
  }

  #started(event: SluiceEvent): void {
    // Only a call of the driver shows that the queue is open: other events may follow its end.
    const isCall = event.verb !== 'run' && event.verb !== 'error'
    const held = isCall ? this.#heldFor(event) : this.#helds.get(event.holder)
    if (held === undefined) return
    if (event.verb === 'add') this.#startAdd(event)
    else if (event.verb === 'claim' || event.verb === 'adopt') {
      this.#claimsFrom.set(event, this.#now())
    } else if (event.verb === 'run') {
      const processing = held.get((event.request as RunRequest).token)
      if (processing !== undefined) processing.hasRun = true
    }
  }

  #startAdd(event: SluiceEvent): void {
    const { asks, merged = 0 } = event.request as { asks: readonly Ask[]; merged?: number }
    // One statement may have the adds of several callers: each gets a span in its own trace.
    const callers = new Map<string, Ask[]>()
    for (const ask of asks) {
      for (const caller of ask.trace?.split(' ') ?? ['']) {
        const known = callers.get(caller)
        if (known === undefined) callers.set(caller, [ask])
        else known.push(ask)
      }
    }
    const spans = new Map<string, Span>()
    for (const [caller, added] of callers) {
      const count = callers.size === 1 ? asks.length + merged : added.length
      spans.set(caller, this.#startAddOf(event, caller, added, count))
    }
    for (const ask of asks) {
      const [first = '', last = first] = ask.trace?.split(' ') ?? []
      // The run is linked to the spans of its adds, not to those around them.
      ask.trace = mergeTraces(storedContext(spans.get(first)), storedContext(spans.get(last)))
    }
    this.#adds.set(event, [...spans.values()])
  }

  #startAddOf(event: SluiceEvent, caller: string, asks: readonly Ask[], count: number): Span {
    const [first] = asks
    const attributes = eventAttributes(event, 'add', 'send')
    if (asks.length === 1 && first !== undefined) {
      Object.assign(attributes, this.#keyAttributes(first.key))
    }
    if (count > 1) attributes['messaging.batch.message_count'] = count
    const parent = caller === '' ? undefined : { ...contextOf(caller), isRemote: false }
    return this.#tracer.startSpan(
      `add ${event.queue}`,
      { kind: SpanKind.PRODUCER, attributes, startTime: this.#now() },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
    )
  }

  #failed(event: SluiceEvent): void {
    for (const span of this.#adds.get(event) ?? []) {
      markFailed(span, event.error)
      span.end(this.#now())
    }
  }

  #answered(event: SluiceEvent): void {
    const held = this.#helds.get(event.holder)
    if (held === undefined) return
    if (event.verb === 'add') this.#endAdd(event)
    else if (event.verb === 'claim') {
      this.#claimed(event, held, (event.result as { readonly claims: SeenClaim[] }).claims)
    } else if (event.verb === 'adopt') this.#claimed(event, held, event.result as SeenClaim[])
    else if (event.verb === 'finish') this.#finished(event, held)
    else if (event.verb === 'run') this.#ran(event, held)
  }

  #endAdd(event: SluiceEvent): void {
    const replies = event.result as readonly { readonly outcome: string }[]
    for (const span of this.#adds.get(event) ?? []) {
      if (replies.length === 1) span.setAttribute('sluice.outcome', replies[0]?.outcome ?? '')
      span.end(this.#now())
    }
  }

  #claimed(event: SluiceEvent, held: Held, claims: readonly SeenClaim[]): void {
    // A claim that found nothing is part of waiting, and gets no span.
    if (claims.length === 0) return
    const now = this.#now()
    const get = this.#tracer.startSpan(`get ${event.queue}`, {
      kind: SpanKind.CLIENT,
      root: true,
      startTime: this.#claimsFrom.get(event) ?? now,
      attributes: {
        ...eventAttributes(event, 'get', 'receive'),
        'messaging.batch.message_count': claims.length,
      },
    })
    get.end(now)
    for (const { key, token, failures, trace: added } of claims) {
      const links: Link[] = [...contextsOf(added), get.spanContext()].map((to) => ({ context: to }))
      const span = this.#tracer.startSpan(`process ${event.queue}`, {
        kind: SpanKind.CONSUMER,
        // A run has any number of adds as its cause, and is a child of none.
        root: true,
        links,
        startTime: now,
        attributes: {
          ...eventAttributes(event, 'process', 'process'),
          ...this.#keyAttributes(key),
          'sluice.token': token,
          'sluice.failures': failures,
        },
      })
      held.set(token, { key, span, hasRun: false })
    }
  }

  #finished(event: SluiceEvent, held: Held): void {
    const { finishes } = event.request as { readonly finishes: readonly Finish[] }
    const replies = event.result as readonly (Pick<FinishReply, 'outcome'> | undefined)[]
    finishes.forEach((finish, index) => {
      const processing = held.get(finish.token)
      const outcome = replies[index]?.outcome
      if (processing === undefined || (outcome as string) === 'failed') return
      const { span, hasRun } = processing
      span.setAttributes({ 'sluice.finish': finish.as, 'sluice.outcome': outcome ?? '' })
      if (hasRun) return
      if (finish.as === 'retry' || (finish.as === 'park' && finish.error !== undefined)) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: finish.error ?? '' })
      }
      this.#end(held, finish.token)
    })
  }

  #ran(event: SluiceEvent, held: Held): void {
    const { token } = event.request as RunRequest
    const { result, isTerminal, isTimedOut, error } = event.result as RunResult
    const span = held.get(token)?.span
    if (span === undefined) return
    span.setAttributes({
      'sluice.result': result,
      'sluice.terminal': isTerminal,
      'sluice.timed_out': isTimedOut,
    })
    if (result === 'error') markFailed(span, error)
    this.#end(held, token)
  }

  #noticed(event: SluiceEvent): void {
    const held = this.#helds.get(event.holder)
    if (held === undefined) return
    if (event.verb === 'closed') {
      for (const token of held.keys()) this.#end(held, token)
      this.#helds.delete(event.holder)
    } else if (event.verb === 'lease-lost' || event.verb === 'held-dropped') {
      const { token } = event.request as { readonly token: number }
      const processing = held.get(token)
      processing?.span.addEvent(event.verb, {}, this.#now())
      if (processing?.hasRun === false) this.#end(held, token)
    }
  }

  #end(held: Held, token: number): void {
    held.get(token)?.span.end(this.#now())
    held.delete(token)
  }

  inSpan<F extends (...given: never[]) => unknown>(handler: F): F {
    const inside = (...given: never[]): unknown => {
      const span = this.#current.getStore()
      return span === undefined ? handler(...given) : this.#with(span, () => handler(...given))
    }
    return inside as F
  }

  within<R>(held: { readonly key: string; readonly token: number }, work: () => R): R {
    const { key, token } = held
    const own = this.#helds.get(holderOf(held))
    for (const helds of own === undefined ? this.#helds.values() : [own]) {
      const found = helds.get(token)
      if (found?.key === key) return this.#with(found.span, work)
    }
    return work()
  }

  #with<R>(span: Span, work: () => R): R {
    return context.with(trace.setSpan(context.active(), span), work)
  }

  close(): void {
    this.#stopListening()
    traceChannel.unsubscribe(this.#onTraceRequest)
    starts.unbindStore(this.#current as AsyncLocalStorage<unknown>)
    for (const held of this.#helds.values()) {
      for (const token of held.keys()) this.#end(held, token)
    }
    this.#helds.clear()
  }
}

/**
 * Starts to trace the queues of this process with OpenTelemetry: a span for each add, for each
 * claim that found keys, and for each key from its claim to its finish.
 *
 * The span of a run is linked to the claim and to the first and the last of its adds, whatever process
 * made them: their contexts are stored with the key. It is never their child, because one run may have
 * any number of adds. Spans report statements, not commits: an add
 * in a caller's transaction is shown even if it is rolled back later.
 */
export function openTelemetryTracing(options: TracingOptions = {}): OpenTelemetryTracing {
  checkObject('options', options, ['tracer', 'driver', 'showKey', 'clock', 'onError'])
  const { tracer, driver, showKey, onError } = options
  if (tracer !== undefined) {
    checkObject('tracer', tracer)
    checkFunction('tracer.startSpan', tracer.startSpan)
  }
  if (driver !== undefined) checkObject('driver', driver)
  if (showKey !== undefined) checkFunction('showKey', showKey)
  if (onError !== undefined) checkFunction('onError', onError)
  return new ChannelTracing(options)
}
