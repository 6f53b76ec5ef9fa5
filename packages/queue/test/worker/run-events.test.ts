import { type RunRequest, type RunResult, type SluiceEvent, sluiceChannel } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  type HandlerResult,
  memoryDriver,
  TerminalError,
} from '../../src/index.ts'

/** Everything published about runs and workers from now on, at its start and at its end. */
function listen() {
  const started: SluiceEvent[] = []
  const ended: SluiceEvent[] = []
  const isMeant = ({ verb }: SluiceEvent) => /^(run|worker-.*|closed)$/.test(verb)
  const subscribers = {
    start: (event: SluiceEvent) => void (isMeant(event) && started.push(event)),
    asyncEnd: (event: SluiceEvent) => void (isMeant(event) && ended.push(event)),
    end: () => {},
    asyncStart: () => {},
    error: () => {},
  }
  sluiceChannel.subscribe(subscribers)
  onTestFinished(() => void sluiceChannel.unsubscribe(subscribers))
  const results = () => ended.map(({ result }) => result as RunResult)
  return { started, results }
}

function setUp() {
  const clock = fakeClock()
  const driver = memoryDriver()
  const queue = createRateLimitingQueue<string>({
    name: 'orders',
    driver,
    clock,
    limiter: exponential({ baseMs: 1_000, maxMs: 1_000 }),
  })
  return { clock, driver, queue }
}

const never = new Promise<HandlerResult>(() => {})

test('a worker publishes itself and each run, in the words of controller-runtime', async () => {
  const { clock, driver, queue } = setUp()
  const { started, results } = listen()
  const worker = createWorker<string>({
    queue,
    concurrency: 3,
    handler: (item) => {
      if (item === 'error') throw new Error('no')
      if (item === 'terminal') throw new TerminalError('never')
      if (item === 'requeue') return { requeue: true }
      if (item === 'enough') return { requeue: false }
      if (item === 'later') return { requeueAfterMs: 60_000 }
      return undefined
    },
  })
  for (const item of ['fine', 'error', 'terminal', 'requeue', 'later', 'enough'])
    await queue.add(item)
  await clock.step(10)
  await worker.stop()
  await queue.close()

  expect(started.map(({ verb }) => verb)).toEqual([
    'worker-started',
    ...Array.from({ length: 6 }, () => 'run'),
    'worker-stopped',
    'closed',
  ])
  expect(started[0]?.request).toEqual({ concurrency: 3 })
  expect(started.every(({ source }) => source === driver)).toBe(true)
  const request = started[1]?.request as RunRequest
  expect(request).toMatchObject({ key: 'fine', failures: 0, concurrency: 3 })
  expect(results().map(({ result, isTerminal }) => [result, isTerminal])).toEqual(
    expect.arrayContaining([
      ['success', false],
      ['error', false],
      ['error', true],
      ['requeue', false],
      ['requeue_after', false],
    ]),
  )
  expect(results().filter(({ error }) => error instanceof Error)).toHaveLength(2)
  expect(results().filter(({ result }) => result === 'success')).toHaveLength(2)
})

test('a run that takes too long says so, also when its handler never ends', async () => {
  const { clock, queue } = setUp()
  const { results } = listen()
  const worker = createWorker<string>({
    queue,
    timeoutMs: 100,
    abandonMs: 50,
    handler: () => never,
  })
  await queue.add('stuck')
  await clock.step(200)
  expect(results()).toEqual([
    { result: 'error', isTerminal: false, isTimedOut: true, error: undefined },
  ])
  await worker.stop()
  await queue.close()
})
