import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import {
  type Ask,
  callerTrace,
  type Driver,
  sluiceChannel,
  type TraceRequest,
  traceChannel,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
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

test('a run is linked to the first and the last of its adds, in this process or another', () => {
  const { queue, spans } = setUp()
  for (let n = 0; n < 10; n += 1) queue.add('a', n === 0 ? 'added' : 'unchanged')
  queue.done('a', queue.claim('a'))
  const adds = spans('add orders').map((span) => span.spanContext())
  const links = spans('process orders')[0]?.links.map(({ context: to }) => to)
  expect(links?.slice(0, 2)).toEqual([
    { ...adds[0], isRemote: true },
    { ...adds[9], isRemote: true },
  ])
  expect(links).toHaveLength(3)
})

test('each caller of one statement gets a span in its own trace', () => {
  const { queue, spans, tracer, driver } = setUp()
  const traceIn = (name: string): string | undefined => {
    const span = tracer.startSpan(name)
    return context.with(trace.setSpan(context.active(), span), () => {
      const traceparent = callerTrace('orders', driver)
      span.end()
      return traceparent
    })
  }
  const [one = '', two = ''] = [traceIn('one'), traceIn('two')]
  const asks: Pick<Ask, 'key' | 'trace'>[] = [
    { key: 'a', trace: one },
    { key: 'b', trace: `${one} ${two}` },
    { key: 'c', trace: two },
    { key: 'd' },
  ]
  queue.publish(
    'add',
    { asks, merged: 1 },
    asks.map(() => ({ outcome: 'added' })),
  )
  const ofRequest = (name: string): string => {
    const parentId = spans(name)[0]?.spanContext().spanId
    const added = spans('add orders').filter((span) => span.parentSpanContext?.spanId === parentId)
    expect(added).toHaveLength(1)
    const [span] = added
    expect(span?.attributes['messaging.batch.message_count']).toBe(2)
    return `00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`
  }
  const alone = spans('add orders').find((span) => span.parentSpanContext === undefined)
  expect(spans('add orders')).toHaveLength(3)
  expect(asks.map((ask) => ask.trace)).toEqual([
    ofRequest('one'),
    `${ofRequest('one')} ${ofRequest('two')}`,
    ofRequest('two'),
    `00-${alone?.spanContext().traceId}-${alone?.spanContext().spanId}-01`,
  ])
})

test('with the option driver, only its queues are traced, and only their adds carry a context', () => {
  const traced = storeDriver(fakeClock(1_000))
  const { clock, driver: other, tracer, spans } = setUp({ driver: traced })
  const names = ['add orders', 'get orders', 'process orders']
  const work = (driver: Driver): number[] => {
    const queue = new StagedQueue(clock, driver, 'orders', driver === other ? 'there' : 'here')
    queue.add('a')
    queue.done('a', queue.claim('a'))
    return names.map((name) => spans(name).length)
  }
  expect(work(other)).toEqual([0, 0, 0])
  expect(work(traced)).toEqual([1, 1, 1])
  const span = tracer.startSpan('request')
  const isCarriedTo = (driver: Driver): boolean =>
    context.with(trace.setSpan(context.active(), span), () => callerTrace('orders', driver)) !==
    undefined
  expect([isCarriedTo(other), isCarriedTo(traced)]).toEqual([false, true])
})

test('contexts that are not sampled are not stored, and their adds not sampled', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const { queue } = setUp({ tracer: provider.getTracer('test') })
  const unsampled = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 }
  const asks: Pick<Ask, 'key' | 'trace'>[] = []
  context.with(trace.setSpanContext(context.active(), unsampled), () => {
    asks.push({ key: 'a', trace: callerTrace('orders', queue.driver) })
  })
  expect(asks[0]?.trace).toBe(`00-${unsampled.traceId}-${unsampled.spanId}-00`)
  queue.publish('add', { asks }, [{ outcome: 'added' }])
  expect(asks[0]?.trace).toBeUndefined()
  expect(exporter.getFinishedSpans()).toEqual([])
})

test('without a tracer no context is asked for, and what is no context is not stored', () => {
  const { driver, tracer } = setUp()
  const span = tracer.startSpan('request')
  const here = (): string | undefined =>
    context.with(trace.setSpan(context.active(), span), () => callerTrace('orders', driver))
  expect(here()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  const wrong = (message: unknown): void => {
    ;(message as TraceRequest).traceparent = 'x'.repeat(100_000)
  }
  traceChannel.subscribe(wrong)
  onTestFinished(() => void traceChannel.unsubscribe(wrong))
  expect(here()).toBeUndefined()
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

test('a run ends its span also if its error cannot be read', () => {
  const { queue, spans } = setUp()
  const unreadable = new Error('unread')
  Object.defineProperty(unreadable, 'message', {
    get() {
      throw new Error('this message is not for you')
    },
  })
  const revocable = Proxy.revocable({}, {})
  revocable.revoke()
  for (const error of [unreadable, Object.create(null), revocable.proxy]) {
    queue.add('a')
    queue.run(queue.claim('a'), 1)({ result: 'error', error })
  }
  expect(spans('process orders').map(({ status }) => status.code)).toEqual(
    Array(3).fill(SpanStatusCode.ERROR),
  )
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

test('a key that cannot be shown has spans all the same, and so have those beside it', () => {
  const errors: unknown[] = []
  const { queue, spans } = setUp({
    showKey: (key) => {
      if (key === 'bad') throw new Error(`cannot show ${key}`)
      return key
    },
    onError: (error) => void errors.push(error),
  })
  queue.add('bad')
  const claims = ['bad', 'good'].map((key, index) => {
    return { key, token: 100 + index, failures: 0, priority: 0, askedAt: 0, readyAt: 0 }
  })
  queue.publish('claim', { limit: 2 }, { claims, leaseEnds: [], now: 0 })
  for (const { key, token } of claims) queue.done(key, token)
  expect(spans('add orders')).toHaveLength(1)
  const shown = spans('process orders').map(({ attributes }) => attributes['sluice.key'])
  expect(shown).toEqual([undefined, 'good'])
  expect(errors.map(String)).toEqual(['Error: cannot show bad', 'Error: cannot show bad'])
})

test('errors of tracing are printed once a minute where there is no onError', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => {
    vi.useRealTimers()
    print.mockRestore()
  })
  const { queue } = setUp({
    showKey: (key) => {
      throw new Error(`cannot show ${key}`)
    },
  })
  const adds: [key: string, afterMs: number][] = [
    ['a', 0],
    ['b', 59_000],
    ['c', 1_000],
  ]
  for (const [key, afterMs] of adds) {
    vi.advanceTimersByTime(afterMs)
    queue.add(key)
  }
  expect(print.mock.calls.map(([text, error]) => `${text} ${error}`)).toEqual([
    'sluice: metrics failed: Error: cannot show a',
    'sluice: metrics failed: Error: cannot show c',
  ])
})

test('an onError that throws does not reach the queue, and is printed', () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => print.mockRestore())
  const { queue, spans } = setUp({
    showKey: () => {
      throw new Error('cannot show it')
    },
    onError: () => {
      throw new Error('no log')
    },
  })
  queue.add('a')
  expect(spans('add orders')).toHaveLength(1)
  expect(print.mock.calls.flat().map(String)).toEqual([
    'sluice: the onError of metrics threw:',
    'Error: no log',
    'when it was called with:',
    'Error: cannot show it',
  ])
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

test('a key that is found after the answer of its claim was lost has its spans, too', async () => {
  const { clock, queue, spans } = setUp()
  queue.add('a')
  const token = queue.adopt('a', { askedAt: 1_000, readyAt: 1_000 })
  const end = queue.run(token, 1)
  await clock.step(5)
  end({ result: 'success' })
  queue.done('a', token)
  const [add] = spans('add orders')
  const [get] = spans('get orders')
  const [process] = spans('process orders')
  expect(process?.attributes).toMatchObject({ 'sluice.key': 'a', 'sluice.result': 'success' })
  expect(process?.links.map(({ context: { spanId } }) => spanId)).toEqual([
    add?.spanContext().spanId,
    get?.spanContext().spanId,
  ])
})

test('two queues of a driver with the same token have a span each', () => {
  const { clock, queue, spans, tracing, tracer } = setUp()
  // As on a Redis Cluster, where each queue counts its own tokens.
  const mails = new StagedQueue(clock, queue.driver, 'mails', 'there')
  const token = queue.claim('a')
  expect(mails.claim('b')).toBe(token)
  tracing.within({ key: 'a', token }, () => tracer.startSpan('work').end())
  mails.done('b', token)
  queue.done('a', token)
  const keyOf = (name: string) => spans(name).map(({ attributes }) => attributes['sluice.key'])
  expect([keyOf('process orders'), keyOf('process mails')]).toEqual([['a'], ['b']])
  const id = spans('process orders')[0]?.spanContext().spanId
  expect(spans('work')[0]?.parentSpanContext?.spanId).toBe(id)
})

test('only the given driver is traced, and bad options are refused by name', () => {
  const { queue, clock } = setUp()
  const other = setUp({ driver: storeDriver(clock) })
  queue.add('a')
  expect(other.spans('add orders')).toEqual([])
  for (const [options, name] of [
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
