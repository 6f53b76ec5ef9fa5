import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { fakeClock } from '@sluice/core/testing'
import { openTelemetryTracing } from '@sluice/metrics/opentelemetry'
import { sqliteDriver } from '@sluice/sqlite'
import { createRateLimitingQueue, createWorker, memoryDriver } from 'sluice'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

let server: PostgresServer
beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  server = await startPostgres()
})
afterAll(async () => {
  context.disable()
  await server.stop()
})

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tracing-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'queue.db')
}

const ways = [
  ['memory', () => ({ driver: memoryDriver() })],
  ['memory with leases', () => ({ driver: memoryDriver(), leaseMs: 30_000 })],
  ['sqlite', () => ({ driver: sqliteDriver({ file: file() }) })],
  ['postgres', () => ({ driver: server.driver() })],
] as const

test.each(ways)(
  'a run is linked to its adds, and what it does is part of it: %s',
  async (_, way) => {
    const clock = fakeClock()
    const exporter = new InMemorySpanExporter()
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    })
    const tracer = provider.getTracer('test')
    const errors: unknown[] = []
    const tracing = openTelemetryTracing({ tracer, clock, onError: (error) => errors.push(error) })
    onTestFinished(() => tracing.close())
    const spans = (name: string): ReadableSpan[] =>
      exporter.getFinishedSpans().filter((span) => span.name === name)

    const queue = createRateLimitingQueue<string>({ name: 'orders', clock, ...way() })
    const request = tracer.startSpan('request')
    await context.with(trace.setSpan(context.active(), request), async () => {
      await queue.add('a')
      await queue.add('a')
    })
    let fails = true
    const worker = createWorker<string>({
      queue,
      handler: tracing.inSpan(async (item: string) => {
        await Promise.resolve()
        tracer.startSpan(`work on ${item}`).end()
        if (fails) throw new RangeError('not yet')
      }),
    })
    await clock.step(1)
    await expect.poll(() => spans('process orders').length).toBe(1)
    // The span ends before the worker has heard from the store how the run ended, and when the key is due
    // again; time must not pass until then.
    await expect.poll(() => worker.running + worker.finishing).toBe(0)
    expect((await queue.inspect.get('a'))?.state).toBe('backoff')
    fails = false
    await clock.step(1_000)
    await expect.poll(() => spans('process orders').length).toBe(2)
    await worker.stop()
    await queue.close()

    const [first, second] = spans('process orders')
    expect(spans('process orders')).toHaveLength(2)
    const adds = spans('add orders').map((span) => span.spanContext().spanId)
    const gets = spans('get orders').map((span) => span.spanContext().spanId)
    expect(first?.links.map((link) => link.context.spanId)).toEqual([adds[0], adds[1], gets[0]])
    expect(second?.links.map((link) => link.context.spanId)).toEqual([adds[0], adds[1], gets[1]])
    for (const span of [...spans('get orders'), first, second]) {
      expect(span?.parentSpanContext).toBeUndefined()
    }
    expect(first?.attributes).toMatchObject({
      'sluice.result': 'error',
      'error.type': 'RangeError',
    })
    expect(second?.attributes).toMatchObject({ 'sluice.result': 'success', 'sluice.failures': 1 })
    expect(spans('work on a').map((span) => span.parentSpanContext?.spanId)).toEqual(
      [first, second].map((span) => span?.spanContext().spanId),
    )
    expect(errors).toEqual([])
  },
)

test('what is done with a Held is part of its own run, also where a queue on another store has its key and its token', async () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  const tracing = openTelemetryTracing({ tracer })
  onTestFinished(() => tracing.close())
  // Stores that are opened in one millisecond have the same tokens.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const runs: [string, number | undefined][] = []
  for (const name of ['orders', 'mails']) {
    const queue = createRateLimitingQueue<string>({ name, driver: memoryDriver() })
    onTestFinished(() => queue.close())
    await queue.add('a')
    const held = await queue.get()
    runs.push([name, held?.token])
    tracing.within(held!, () => tracer.startSpan(`work on ${name}`).end())
    // What was made from a Held has its key and its token, and no queue.
    tracing.within({ key: 'a', token: held!.token }, () =>
      tracer.startSpan(`more on ${name}`).end(),
    )
  }
  expect(runs[0]?.[1]).toBe(runs[1]?.[1])
  tracing.close()
  const spans = exporter.getFinishedSpans()
  const idOf = (name: string) => spans.find((span) => span.name === name)?.spanContext().spanId
  const parentOf = (name: string) =>
    spans.find((span) => span.name === name)?.parentSpanContext?.spanId
  expect(parentOf('work on orders')).toBe(idOf('process orders'))
  expect(parentOf('work on mails')).toBe(idOf('process mails'))
  expect(parentOf('more on orders')).toBe(idOf('process orders'))
})
