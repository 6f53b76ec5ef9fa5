import { type ErrorCode, SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { createWorker, inspectStore, type RateLimitingQueue } from '../../src/index.ts'
import { late, Scene, seen } from '../support/setups.ts'

/** Fails the calls of these verbs that are in flight as a driver does that is closed. */
function failInFlight(scene: Scene, verbs: readonly string[], code: ErrorCode): void {
  for (const verb of verbs) scene.late.hold(verb)
  scene.late.after = ({ verb }) => {
    if (verbs.includes(verb)) throw new SluiceError(code, 'the driver is not open')
  }
}

type Call = (queue: RateLimitingQueue<string>) => Promise<unknown>

const calls: readonly [string, string, Call][] = [
  ['len', 'counts', (queue) => queue.len()],
  ['numRequeues', 'list', (queue) => queue.numRequeues('a')],
  ['shutDown', 'tick', (queue) => queue.shutDown()],
  ['counts', 'counts', (queue) => queue.inspect.counts()],
  ['explain', 'list', (queue) => queue.inspect.explain('a')],
  ['workers', 'workers', (queue) => queue.inspect.workers()],
  ['pause', 'pause', (queue) => queue.inspect.pause()],
  ['park', 'park', (queue) => queue.inspect.park('a')],
  ['forget', 'forget', (queue) => queue.inspect.forget('a')],
  ['remove of a selection', 'remove', (queue) => queue.inspect.select({}).remove()],
]

test.each(calls)(
  '%s rejects with ERR_CLOSED if the queue is closed before the answer',
  async (_, verb, call) => {
    const scene = new Scene(late)
    const queue = scene.limited()
    await queue.add('a')
    failInFlight(scene, [verb], 'ERR_STORE')
    const answer = seen(call(queue))
    await scene.quiet()
    expect(scene.late.waiting(verb)).toBe(1)
    await queue.close()
    scene.late.letGo(verb)
    await scene.quiet()
    expect(answer.error).toMatchObject({ code: 'ERR_CLOSED' })
  },
)

test('a tick whose answer the close has cut off is ERR_CLOSED, and no trouble of the store', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  await queue.len()
  failInFlight(scene, ['tick'], 'ERR_UNKNOWN_OUTCOME')
  const worker = createWorker<string>({ queue, handler: () => undefined })
  const shutDown = seen(queue.shutDown())
  await scene.quiet()
  expect(scene.late.waiting('tick')).toBe(2)
  await queue.close()
  await worker.stopped
  scene.late.letGo('tick')
  await scene.quiet()
  expect(shutDown.error).toMatchObject({ code: 'ERR_CLOSED' })
  expect(scene.errors).toStrictEqual([])
})

test('a change rejects with ERR_UNKNOWN_OUTCOME if the close has cut off its answer', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  await queue.add('a')
  failInFlight(scene, ['park'], 'ERR_UNKNOWN_OUTCOME')
  const answer = seen(queue.inspect.park('a'))
  await scene.quiet()
  await queue.close()
  scene.late.letGo('park')
  await scene.quiet()
  expect(answer.error).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
})

test('calls of an inspected store reject with ERR_CLOSED if it is closed before the answer', async () => {
  const scene = new Scene(late)
  const store = inspectStore(scene.driver, { clock: scene.clock })
  await store.queues()
  const verbs = ['queues', 'counts']
  failInFlight(scene, verbs, 'ERR_STORE')
  const answers = [seen<unknown>(store.queues()), seen<unknown>(store.queue('q').counts())]
  await scene.quiet()
  await store.close()
  for (const verb of verbs) scene.late.letGo(verb)
  await scene.quiet()
  const closed = { code: 'ERR_CLOSED' }
  expect(answers.map(({ error }) => error)).toMatchObject([closed, closed])
})
