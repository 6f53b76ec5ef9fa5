/**
 * How long a trace context is: a W3C `traceparent` of version 00, as
 * `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. A `tracestate` is not kept.
 */
const traceLength = 55

const context = '00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}'
const contexts = new RegExp(`^${context}( ${context})?$`)

/** Whether a text is one trace context, or two with a space between them. */
export function isTrace(text: string): boolean {
  return contexts.test(text)
}

/**
 * The contexts of two sequences of adds as one: the first of the earlier adds, and the last of the
 * later ones. One context stands for both if they are the same.
 */
export function mergeTraces(
  earlier: string | undefined,
  later: string | undefined,
): string | undefined {
  if (earlier === undefined) return later
  if (later === undefined) return earlier
  const first = earlier.slice(0, traceLength)
  const last = later.slice(-traceLength)
  return first === last ? first : `${first} ${last}`
}
