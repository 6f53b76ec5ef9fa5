/**
 * A process that is traced by OpenTelemetry: adds keys, each inside a span of its own, or runs keys
 * until it has run `count` of them. Prints each finished span as a line of JSON.
 *
 * Arguments: the address of the store, then `add` and the keys, or `run` and the count.
 */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { openTelemetryTracing } from '@sluice/metrics/opentelemetry'
import { createRateLimitingQueue } from 'sluice'
import { driverAt } from '../stores/driver-at.ts'

/** A finished span, as the test reads it. */
export interface PrintedSpan {
  readonly name: string
  readonly key: string | undefined
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  /** The contexts that the span is linked to, as `traceId/spanId`. */
  readonly links: readonly string[]
}

function printed(span: ReadableSpan): PrintedSpan {
  const { traceId, spanId } = span.spanContext()
  return {
    name: span.name,
    key: span.attributes['sluice.key'] as string | undefined,
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId,
    links: span.links.map((link) => `${link.context.traceId}/${link.context.spanId}`),
  }
}

const [address = '', role, ...words] = process.argv.slice(2)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const exporter = {
  export(spans: ReadableSpan[], done: (result: { code: number }) => void) {
    for (const span of spans) console.log(JSON.stringify(printed(span)))
    done({ code: 0 })
  },
  shutdown: () => Promise.resolve(),
}
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracer = provider.getTracer('traced-process')
const tracing = openTelemetryTracing({ tracer })
// They only end what hangs: a machine may hold the process up, or the store, for longer than by default.
const patience = { timeoutMs: 150_000, leaseMs: 150_000 }
const queue = createRateLimitingQueue<string>({
  name: 'orders',
  driver: driverAt(address),
  ...patience,
})

if (role === 'add') {
  // At the same time, so that all of them travel in one statement.
  await Promise.all(
    words.map(async (key) => {
      const request = tracer.startSpan(`request ${key}`)
      await context.with(trace.setSpan(context.active(), request), () => queue.add(key))
      request.end()
    }),
  )
} else {
  for (let runs = 0; runs < Number(words[0]); runs += 1) {
    const held = await queue.get()
    // Each key fails once, so that its second run has to be linked as well.
    await (held?.failures === 0 ? held.retry(new Error('once')) : held?.done({ forget: true }))
  }
}
await queue.close()
tracing.close()
