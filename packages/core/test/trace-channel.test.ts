import { expect, onTestFinished, test } from 'vitest'
import { callerTrace, type Driver, sluiceChannel, traceChannel } from '../src/index.ts'

const source = {} as Driver
const context = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A tracer that answers with `traceparent`; gives the queues that asked. */
function tracer(traceparent: string | undefined): string[] {
  const asked: string[] = []
  const answer = (message: unknown): void => {
    const request = message as { queue: string; traceparent?: string | undefined }
    asked.push(request.queue)
    request.traceparent = traceparent
  }
  traceChannel.subscribe(answer)
  onTestFinished(() => void traceChannel.unsubscribe(answer))
  return asked
}

function listener(): void {
  const subscribers = { start() {}, end() {}, asyncStart() {}, asyncEnd() {}, error() {} }
  sluiceChannel.subscribe(subscribers)
  onTestFinished(() => void sluiceChannel.unsubscribe(subscribers))
}

test('a context is asked for while a tracer listens to the events of queues as well', () => {
  const asked = tracer(context)
  expect(callerTrace('q', source)).toBe(undefined)
  expect(asked).toEqual([])
  listener()
  expect(callerTrace('q', source)).toBe(context)
  expect(asked).toEqual(['q'])
})

test.each([undefined, '', 'elsewhere', `${context}-more`, context.toUpperCase()])(
  'what is no context is not stored: %o',
  (answer) => {
    tracer(answer)
    listener()
    expect(callerTrace('q', source)).toBe(undefined)
  },
)
