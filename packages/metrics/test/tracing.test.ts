import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { sluiceChannel } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { KeyLinks } from '../src/key-links.ts'
import { openTelemetryTracing, type TracingOptions } from '../src/opentelemetry.ts'
import { StagedQueue, storeDriver } from './stage.ts'

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterAll(() => {
  context.disable()
})

function setUp(options: TracingOptions = {}) {
  const clock = fakeClock(1_000)
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  const tracing = openTelemetryTracing({ tracer, clock, ...options })
  onTestFinished(() => tracing.close())
  const driver = storeDriver(clock)
  const queue = new StagedQueue(clock, driver, 'orders')
  const spans = (name: string): ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === name)
  return { clock, tracer, tracing, driver, queue, spans }
}

test('add, get and process: linked, and never parent and child', async () => {
  const { clock, tracer, queue, spans } = setUp()
  const request = tracer.startSpan('request')
  context.with(trace.setSpan(context.active(), request), () => {
    queue.add('a')
    queue.add('a', 'unchanged')
  })
  await clock.step(20)
  // Taken in the context of the call that happened to wake the queue.
  const token = context.with(trace.setSpan(context.active(), request), () => queue.claim('a'))
  await clock.step(1_500)
  queue.done('a', token)

  const adds = spans('add orders')
  expect(adds.map(({ kind }) => kind)).toEqual([SpanKind.PRODUCER, SpanKind.PRODUCER])
  expect(adds[0]?.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(adds.map(({ attributes }) => attributes['sluice.outcome'])).toEqual(['added', 'unchanged'])
  const [get] = spans('get orders')
  const [process] = spans('process orders')
  expect(get?.parentSpanContext).toBeUndefined()
  expect(process?.parentSpanContext).toBeUndefined()
  expect(process?.kind).toBe(SpanKind.CONSUMER)
  expect(process?.links.map((link) => link.context.spanId)).toEqual(
    [...adds, get].map((span) => span?.spanContext().spanId),
  )
  expect(process?.startTime).toEqual([1, 20_000_000])
  expect(process?.duration).toEqual([1, 500_000_000])
  expect(process?.attributes).toMatchObject({
    'messaging.system': 'sluice',
    'messaging.destination.name': 'orders',
    'messaging.operation.type': 'process',
    'sluice.key': 'a',
    'sluice.finish': 'done',
    'sluice.outcome': 'idle',
    // Of the statement, and not of the commit: and it says so.
    'sluice.reports': 'statement',
  })
})

test('a reading that found nothing has no span', () => {
  const { queue, spans } = setUp()
  queue.publish('claim', { limit: 1 }, { claims: [], leaseEnds: [], now: 0 })
  expect(spans('get orders')).toEqual([])
})

test('links are bounded: the first add, and the last ones', () => {
  const { queue, spans } = setUp({ linksMax: 3 })
  for (let n = 0; n < 10; n += 1) queue.add('a', n === 0 ? 'added' : 'unchanged')
  queue.done('a', queue.claim('a'))
  const adds = spans('add orders').map((span) => span.spanContext().spanId)
  const links = spans('process orders')[0]?.links.map((link) => link.context.spanId)
  expect(links?.slice(0, 3)).toEqual([adds[0], adds[8], adds[9]])
  expect(links).toHaveLength(4)
})

test('keys whose runs are elsewhere are forgotten, the first one first', () => {
  const links = new KeyLinks<number>(1)
  for (let n = 0; n < 10_001; n += 1) links.add(`k${n}`, n)
  expect(links.take('k0')).toEqual([])
  expect(links.take('k1')).toEqual([1])
  expect(links.take('k1')).toEqual([])
  links.add('k2', 7)
  expect(links.take('k2')).toEqual([7])
})

test('a failed add and a failed run say so', () => {
  const { queue, spans } = setUp()
  const event = queue.event('add', { asks: [{ key: 'x' }] })
  sluiceChannel.start.publish(event)
  event.error = new TypeError('no')
  sluiceChannel.error.publish(event)
  sluiceChannel.end.publish(event)
  expect(spans('add orders')[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no' })

  queue.add('a')
  const token = queue.claim('a')
  queue.finish({ as: 'retry', key: 'a', token, delayMs: 1, error: 'later' })
  expect(spans('process orders')[0]?.status).toEqual({
    code: SpanStatusCode.ERROR,
    message: 'later',
  })
})

test('a worker s run ends the span, and says how', () => {
  const { queue, spans } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  const end = queue.run(token, 1)
  queue.finish({ as: 'retry', key: 'a', token, delayMs: 1 }, { outcome: 'delayed' })
  expect(spans('process orders')).toEqual([])
  end({ result: 'error', isTimedOut: true, error: new RangeError('too long') })
  const [span] = spans('process orders')
  expect(span?.attributes).toMatchObject({
    'sluice.result': 'error',
    'sluice.timed_out': true,
    'sluice.finish': 'retry',
    'error.type': 'RangeError',
  })
  expect(span?.events[0]?.name).toBe('exception')
})

test('a handler runs inside the span of its run, and so does what is done with a Held', async () => {
  const { tracing, queue, spans, tracer } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  const handler = tracing.inSpan(async (item: string) => {
    await Promise.resolve()
    tracer.startSpan(`work on ${item}`).end()
    return 7
  })
  const event = queue.event('run', { key: 'a', token, failures: 0, concurrency: 1 })
  const answer = await sluiceChannel.start.runStores(event, () => handler('a'))
  expect(answer).toBe(7)
  await tracing.within({ key: 'a', token }, async () => tracer.startSpan('more').end())
  await tracing.within({ key: 'b', token }, async () => tracer.startSpan('other').end())
  expect(await handler('outside')).toBe(7)
  queue.done('a', token)
  const end = sluiceChannel.asyncEnd
  event.result = { result: 'success', isTerminal: false, isTimedOut: false }
  end.publish(event)
  const id = spans('process orders')[0]?.spanContext().spanId
  expect(spans('work on a')[0]?.parentSpanContext?.spanId).toBe(id)
  expect(spans('more')[0]?.parentSpanContext?.spanId).toBe(id)
  expect(spans('other')[0]?.parentSpanContext).toBeUndefined()
  expect(spans('work on outside')[0]?.parentSpanContext).toBeUndefined()
})

test('keys are shown as they may be', () => {
  const { queue, spans } = setUp({ showKey: () => undefined })
  queue.add('secret')
  expect(JSON.stringify(spans('add orders')[0]?.attributes)).not.toContain('secret')
})

test('lost, dropped and closed keys end their spans', () => {
  const { queue, spans } = setUp()
  for (const key of ['a', 'b', 'c']) queue.add(key)
  queue.notice('lease-lost', { key: 'a', token: queue.claim('a') })
  queue.notice('held-dropped', { key: 'b', token: queue.claim('b') })
  queue.claim('c')
  expect(spans('process orders').map(({ events }) => events[0]?.name)).toEqual([
    'lease-lost',
    'held-dropped',
  ])
  queue.notice('closed')
  expect(spans('process orders')).toHaveLength(3)
})

test('only the given driver is traced, and bad options are refused by name', () => {
  const { queue, clock } = setUp()
  const other = setUp({ driver: storeDriver(clock) })
  queue.add('a')
  expect(other.spans('add orders')).toEqual([])
  for (const [options, name] of [
    [{ linksMax: 0 }, 'linksMax'],
    [{ showKey: 1 }, 'showKey'],
    [{ tracers: 1 }, 'tracers'],
    [{ tracer: {} }, 'tracer.startSpan'],
  ] as const) {
    expect(() => openTelemetryTracing(options as never)).toThrow(name)
  }
})

test('without a tracer of your own, the scope has the name and the version of this package', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  onTestFinished(() => trace.disable())
  const clock = fakeClock(1_000)
  const tracing = openTelemetryTracing({ clock })
  onTestFinished(() => tracing.close())
  new StagedQueue(clock, storeDriver(clock), 'orders').add('a')
  const [span] = exporter.getFinishedSpans()
  expect(span?.instrumentationScope).toMatchObject({
    name: '@sluice/metrics',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  })
})
