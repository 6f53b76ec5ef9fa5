import { isSpanContextValid, type Span, type SpanContext, TraceFlags } from '@opentelemetry/api'

/** A context as a W3C `traceparent`. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

/** The context of a `traceparent` that core has checked. */
export function contextOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

/** The contexts of which a stored text consists. */
export function contextsOf(stored: string | undefined): SpanContext[] {
  return stored === undefined ? [] : stored.split(' ').map(contextOf)
}

/** The text that is stored of a span; `undefined` unless it is recorded. */
export function storedContext(span: Span | undefined): string | undefined {
  const spanContext = span?.spanContext()
  if (spanContext === undefined || !isSpanContextValid(spanContext)) return undefined
  return spanContext.traceFlags & TraceFlags.SAMPLED ? traceparentOf(spanContext) : undefined
}
