import { type Span, SpanStatusCode } from '@opentelemetry/api'

/** Says on a span why what it stands for has failed; the error may be one that cannot be read. */
export function markFailed(span: Span, error: unknown): void {
  let type = 'error'
  let message = 'an error that cannot be read'
  try {
    if (error instanceof Error) {
      type = String(error.name)
      span.recordException(error)
    }
    message = String((error instanceof Error ? error.message : error) ?? '')
  } catch {
    // The span ends with what could be read.
  }
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}
