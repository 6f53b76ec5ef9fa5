import type { V1Deployment } from '@kubernetes/client-node'
import { fakeClock } from '@sluice/core/testing'
import { createRateLimitingQueue } from 'sluice'
import { expect, onTestFinished, test, vi } from 'vitest'
import { enqueueOn } from '../src/index.ts'
import {
  config,
  deployment,
  deploymentInformer,
  deployments,
  enqueue,
  errors,
  onError,
  pods,
  queue,
  server,
  serverForEach,
  taken,
} from './stage.ts'

serverForEach()

test('objects that are listed, added, changed and deleted become keys', async () => {
  server.set(deployments, deployment('web'))
  server.set(deployments, deployment('api'))
  enqueue(deploymentInformer(), queue)
  await taken('shop/web', 'shop/api')
  await server.untilWatches(1)
  server.set(deployments, deployment('mail'))
  await taken('shop/mail')
  server.set(deployments, deployment('web', 3))
  await taken('shop/web')
  server.delete(deployments, 'shop', 'api')
  await taken('shop/api')
  expect(await queue.len()).toBe(0)
  expect(errors).toEqual([])
})

test('100 changes of one object are few runs', async () => {
  enqueue(deploymentInformer(), queue)
  await server.untilWatches(1)
  for (let replicas = 1; replicas <= 100; replicas += 1)
    server.set(deployments, deployment('web', replicas))
  server.set(deployments, deployment('last'))
  await expect.poll(() => queue.len()).toBe(2)
  await taken('shop/web', 'shop/last')
})

test('bookmarks are no changes, and a watch goes on from one', async () => {
  server.set(deployments, deployment('web'))
  enqueue(deploymentInformer(), queue)
  await taken('shop/web')
  await server.untilWatches(1)
  // Changes of other objects raise the version, which only the bookmark says.
  for (let n = 0; n < 10; n += 1)
    server.set(pods, { metadata: { name: `p${n}`, namespace: 'shop' } })
  server.bookmark()
  server.set(deployments, deployment('api'))
  await taken('shop/api')
  server.endWatches()
  await server.untilWatches(2)
  server.set(deployments, deployment('mail'))
  await taken('shop/mail')
  expect(server.served.list).toBe(1)
  expect(await queue.len()).toBe(0)
})

test('what changes while the connection is cut is found', async () => {
  const clock = fakeClock()
  server.set(deployments, deployment('web'))
  server.set(deployments, deployment('gone'))
  enqueue(deploymentInformer(), queue, undefined, { clock, onError })
  await taken('shop/web', 'shop/gone')
  await server.untilWatches(1)
  server.disconnect()
  server.set(deployments, deployment('new'))
  server.delete(deployments, 'shop', 'gone')
  await expect.poll(() => errors).toHaveLength(1)
  await clock.step(500)
  await taken('shop/new', 'shop/gone')
  expect(await queue.len()).toBe(0)
})

test('after 410 Gone everything is listed again, and only what differs becomes a key', async () => {
  const clock = fakeClock()
  server.set(deployments, deployment('web'))
  server.set(deployments, deployment('same'))
  server.set(deployments, deployment('gone'))
  enqueue(deploymentInformer(), queue, undefined, { clock, onError })
  await taken('shop/web', 'shop/same', 'shop/gone')
  await server.untilWatches(1)
  server.disconnect()
  server.set(deployments, deployment('web', 2))
  server.set(deployments, deployment('new'))
  server.delete(deployments, 'shop', 'gone')
  server.compact()
  await expect.poll(() => errors).toHaveLength(1)
  await clock.step(500)
  await taken('shop/web', 'shop/new', 'shop/gone')
  expect(server.served.list).toBe(2)
  expect(await queue.len()).toBe(0)
})

test('a server that fails is asked again, with growing pauses, until it answers', async () => {
  const clock = fakeClock()
  server.set(deployments, deployment('web'))
  server.fail({ of: 'list', status: 500, times: 2 })
  server.fail({ of: 'watch', status: 503 })
  const informer = deploymentInformer()
  const starts = vi.spyOn(informer, 'start')
  enqueue(informer, queue, undefined, { clock, onError })
  await expect.poll(() => errors).toHaveLength(1)
  await clock.step(500)
  await expect.poll(() => errors).toHaveLength(2)
  await clock.step(999)
  expect(starts).toHaveBeenCalledTimes(2)
  await clock.step(1)
  expect(starts).toHaveBeenCalledTimes(3)
  await expect.poll(() => errors).toHaveLength(3)
  await clock.step(2_000)
  await server.untilWatches(1)
  await taken('shop/web')
  server.set(deployments, deployment('api'))
  await taken('shop/api')
})

test('credentials that fail when a watch is begun again are reported, and it is begun again later', async () => {
  const clock = fakeClock()
  const informer = deploymentInformer()
  const doneHandler = Reflect.get(informer, 'doneHandler')
  const enqueueing = enqueue(informer, queue, undefined, { clock, onError })
  await enqueueing.synced
  // As of a plugin for credentials, which the client runs for each request when they have expired.
  const error = new Error('no credentials')
  vi.spyOn(config, 'applySecurityAuthentication').mockRejectedValueOnce(error)
  server.endWatches()
  await expect.poll(() => errors).toEqual([error])
  await clock.step(500)
  await server.untilWatches(2)
  server.set(deployments, deployment('web'))
  await taken('shop/web')
  await enqueueing.stop()
  expect(Reflect.get(informer, 'doneHandler')).toBe(doneHandler)
})

test('an error of onError ends nothing, and is printed', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => print.mockRestore())
  const clock = fakeClock()
  server.set(deployments, deployment('odd'))
  server.set(deployments, deployment('web'))
  server.fail({ of: 'list', status: 500 })
  const mapping = ({ metadata }: V1Deployment): string => {
    if (metadata?.name === 'odd') throw new Error('odd')
    return metadata?.name ?? ''
  }
  const throwing = (error: unknown): void => {
    onError(error)
    throw new Error('the log is full')
  }
  enqueue(deploymentInformer(), queue, mapping, { clock, onError: throwing })
  await expect.poll(() => errors).toHaveLength(1)
  await clock.step(500)
  await expect.poll(() => queue.len()).toBe(1)
  await taken('web')
  expect(errors).toHaveLength(2)
  expect(print.mock.calls.map(([, failure]) => String(failure))).toEqual(
    Array(2).fill('Error: the log is full'),
  )
})

test.each([
  ['a promise', () => Promise.reject(new Error('no connection')), ['Error: no connection']],
  ['a number', () => 5, []],
  ['an object', () => ({ name: 'web' }), []],
])('a mapping that returns %s is reported', async (_, mapping, rejections) => {
  server.set(deployments, deployment('web'))
  const { synced } = enqueue(deploymentInformer(), queue, mapping as never, { onError })
  await synced
  expect(errors[0]).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter: 'mapping(object)' })
  expect(errors.slice(1).map(String)).toEqual(rejections)
  expect(await queue.len()).toBe(0)
})

test('a resync adds every object of the cache once in each period', async () => {
  const clock = fakeClock()
  const timed = createRateLimitingQueue<string>({ name: 'timed', clock })
  onTestFinished(() => timed.close())
  for (let n = 0; n < 20; n += 1) server.set(deployments, deployment(`d${n}`))
  enqueue(deploymentInformer(), timed, undefined, { clock, resyncMs: 600_000 })
  await expect.poll(() => timed.len()).toBe(20)
  await timed.doneMany(await timed.getMany(20))
  // The next pass, which finds the cache full.
  await clock.step(300_000)
  const pending = async () => {
    const { delayed, ready } = await timed.inspect.counts()
    return delayed + ready
  }
  await expect.poll(pending).toBe(20)
  await clock.step(600_000)
  expect(await timed.len()).toBe(20)
})

test('errors of a resync are reported, and after stop it adds nothing', async () => {
  const clock = fakeClock()
  server.set(deployments, deployment('web'))
  let calls = 0
  const failing = {
    addSoon: (key: string) => queue.addSoon(key),
    addAfter: async (): Promise<void> => {
      calls += 1
      throw new Error('the store is full')
    },
  }
  await using enqueueing = enqueueOn(deploymentInformer(), failing, undefined, {
    ...{ clock, onError, resyncMs: 600_000 },
  })
  await enqueueing.synced
  await clock.step(300_000)
  await expect.poll(() => errors).toEqual([new Error('the store is full')])
  await enqueueing[Symbol.asyncDispose]()
  await clock.step(600_000)
  expect(calls).toBe(1)
})

test('several processes share one queue: no run is lost and none is at the same time', async () => {
  const informers = [deploymentInformer(), deploymentInformer(), deploymentInformer()]
  for (const informer of informers) enqueue(informer, queue)
  await server.untilWatches(3)
  server.set(deployments, deployment('web'))
  await expect.poll(() => queue.len()).toBe(1)
  await taken('shop/web')
})

test('it is synced when the first list is in the cache', async () => {
  const clock = fakeClock()
  server.set(deployments, deployment('web'))
  server.fail({ of: 'list', status: 500 })
  server.fail({ of: 'watch', status: 503 })
  const informer = deploymentInformer()
  const { synced } = enqueue(informer, queue, undefined, { clock, onError })
  let isSynced: boolean | undefined
  void synced.then((is) => {
    isSynced = is
  })
  await expect.poll(() => errors).toHaveLength(1)
  expect([isSynced, informer.list()]).toEqual([undefined, []])
  await clock.step(500)
  await expect.poll(() => errors).toHaveLength(2)
  await clock.step(1_000)
  expect(await synced).toBe(true)
  expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['web'])
})

test('an informer that is stopped before is not synced', async () => {
  server.fail({ of: 'list', status: 500 })
  const enqueueing = enqueueOn(deploymentInformer(), queue, undefined, { onError })
  await expect.poll(() => errors).toHaveLength(1)
  await enqueueing.stop()
  expect(await enqueueing.synced).toBe(false)
})

test('after stop nothing is watched and nothing is added', async () => {
  const informer = deploymentInformer()
  const stopped = createRateLimitingQueue<string>({ name: 'stopped', onError })
  onTestFinished(() => stopped.close())
  const enqueueing = enqueueOn(informer, stopped)
  await server.untilWatches(1)
  await enqueueing.stop()
  await expect.poll(() => server.watches).toBe(0)
  server.set(deployments, deployment('web'))
  expect(await stopped.len()).toBe(0)
  // The callbacks are gone, too: the same informer serves another queue alone.
  enqueue(informer, queue)
  await taken('shop/web')
  await server.untilWatches(1)
  server.set(deployments, deployment('web', 2))
  await taken('shop/web')
  server.delete(deployments, 'shop', 'web')
  await taken('shop/web')
  expect(await stopped.len()).toBe(0)
})

test('stop resolves when the keys of what was reported are in the queue', async () => {
  const adding = Promise.withResolvers<void>()
  const addMany = vi.fn(() => adding.promise)
  server.set(deployments, deployment('web'))
  const enqueueing = enqueue(deploymentInformer(), { addSoon() {}, addMany })
  await server.untilWatches(1)
  await expect.poll(() => addMany.mock.calls).toEqual([[['shop/web']]])
  let isStopped = false
  const stopped = enqueueing.stop().then(() => {
    isStopped = true
  })
  await expect.poll(() => server.watches).toBe(0)
  expect(isStopped).toBe(false)
  adding.resolve()
  await stopped
})

test('errors are printed unless there is an onError', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => print.mockRestore())
  const mapping = (): string => {
    throw new Error('odd')
  }
  server.set(deployments, deployment('web'))
  const { synced } = enqueue(deploymentInformer(), queue, mapping)
  await synced
  expect(print.mock.calls).toEqual([['sluice: informer failed:', new Error('odd')]])
})

const queueLike = { addSoon() {} }

test.for<[string, unknown, unknown?, unknown?]>([
  ['queue must be an object', undefined],
  ['mapping must be a function', {}, 'name'],
  ['every is not a known option', {}, undefined, { every: 5 }],
  ['resyncMs must be a number not below 1', {}, undefined, { resyncMs: 0 }],
  ['queue.addAfter must be a function', { addSoon() {} }, undefined, { resyncMs: 5 }],
  ['queue.addSoon must be a function', { add() {} }],
  ['onError must be a function', queueLike, undefined, { onError: 'log' }],
  ['clock must be an object', queueLike, undefined, { clock: 5 }],
])('a wrong call begins nothing: %s', ([message, ...wrong]) => {
  const informer = deploymentInformer()
  const start = vi.spyOn(informer, 'start')
  const call = () => enqueueOn(informer, ...(wrong as unknown as [typeof queue]))
  expect(call).toThrow(message)
  expect(start).not.toHaveBeenCalled()
})

test('what is not a whole informer gets no callbacks', () => {
  expect(() => enqueueOn(undefined as never, queue)).toThrow('informer must be an object')
  const on = vi.fn()
  const informer = { on, off() {}, stop: async () => {} }
  expect(() => enqueueOn(informer as never, queue)).toThrow('informer.start must be a function')
  const startable = { ...informer, start: async () => {} }
  expect(() => enqueueOn(startable as never, queue, undefined, { resyncMs: 5 })).toThrow(
    'informer.list must be a function',
  )
  expect(on).not.toHaveBeenCalled()
})
