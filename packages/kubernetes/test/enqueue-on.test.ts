/** The real client of Kubernetes, against a real HTTP server that speaks list and watch. */
import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  type V1Deployment,
} from '@kubernetes/client-node'
import { fakeClock } from '@sluice/core/testing'
import { type ApiObject, type KubernetesServer, testKubernetes } from '@sluice/test-kubernetes'
import { createRateLimitingQueue, type RateLimitingQueue } from 'sluice'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { enqueueOn, ownerKeys, splitKey } from '../src/index.ts'

const deployments = '/apis/apps/v1/deployments'
const pods = '/api/v1/pods'

let server: KubernetesServer
let config: KubeConfig
let queue: RateLimitingQueue<string>
let errors: unknown[]

beforeEach(async () => {
  server = await testKubernetes()
  config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: 'test', server: server.url, skipTLSVerify: true }],
    users: [{ name: 'test' }],
    contexts: [{ name: 'test', cluster: 'test', user: 'test' }],
    currentContext: 'test',
  })
  queue = createRateLimitingQueue<string>({ name: 'deployments' })
  errors = []
  return async () => {
    await queue.close()
    await server.stop()
  }
})

function deployment(name: string, replicas = 1): ApiObject {
  const metadata = { name, namespace: 'shop' }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } }
}

function deploymentInformer() {
  const api = config.makeApiClient(AppsV1Api)
  return makeInformer<V1Deployment>(config, deployments, () => api.listDeploymentForAllNamespaces())
}

const onError = (error: unknown): void => void errors.push(error)

/** Begins, and ends with the test. */
function enqueue(...args: Parameters<typeof enqueueOn<V1Deployment>>) {
  const enqueueing = enqueueOn(...args)
  onTestFinished(() => enqueueing.stop())
  return enqueueing
}

/** Takes keys until all of these were taken. */
async function taken(...keys: readonly string[]): Promise<void> {
  const missing = new Set(keys)
  while (missing.size > 0) {
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    missing.delete(held.item)
    await held.done()
  }
}

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

test('changed pods add their owners', async () => {
  const api = config.makeApiClient(CoreV1Api)
  const informer = makeInformer(config, pods, () => api.listPodForAllNamespaces())
  const mapping = ownerKeys({ kind: 'Deployment', group: 'apps' })
  const enqueueing = enqueueOn(informer, queue, mapping)
  onTestFinished(() => enqueueing.stop())
  const owned = (name: string, owner: object): ApiObject => ({
    metadata: { name, namespace: 'shop', ownerReferences: [{ uid: '1', ...owner }] },
  })
  const owner = (name: string, rest: object = {}): object => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', name, controller: true },
    ...rest,
  })
  await server.untilWatches(1)
  server.set(pods, owned('other-kind', owner('job', { kind: 'Job' })))
  server.set(pods, owned('other-group', owner('core', { apiVersion: 'v1' })))
  server.set(pods, owned('no-controller', owner('guest', { controller: false })))
  server.set(pods, { metadata: { name: 'nobody', namespace: 'shop' } })
  server.set(pods, owned('api-1', owner('api')))
  server.set(pods, owned('web-1', owner('web')))
  await expect.poll(() => queue.len()).toBeGreaterThan(1)
  const held = await queue.getMany(10)
  expect(held.map(({ item }) => item)).toEqual(['shop/api', 'shop/web'])
  await queue.doneMany(held)
})

test('an object that changes its owner adds both owners', async () => {
  const api = config.makeApiClient(CoreV1Api)
  const informer = makeInformer(config, pods, () => api.listPodForAllNamespaces())
  const enqueueing = enqueueOn(informer, queue, ownerKeys({ kind: 'Deployment' }), { onError })
  onTestFinished(() => enqueueing.stop())
  const pod = (...owners: readonly string[]): ApiObject => ({
    metadata: {
      name: 'pod',
      namespace: 'shop',
      ownerReferences: owners.map((name) => ({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid: name, controller: true },
      })),
    },
  })
  await server.untilWatches(1)
  const changes = [
    [['old'], ['shop/old']],
    [['new'], ['shop/old', 'shop/new']],
    [[], ['shop/new']],
    [['newest'], ['shop/newest']],
  ] as const
  for (const [owners, keys] of changes) {
    server.set(pods, pod(...owners))
    await expect.poll(() => queue.len()).toBe(keys.length)
    const held = await queue.getMany(10)
    expect(held.map(({ item }) => item)).toEqual(keys)
    await queue.doneMany(held)
  }
  server.delete(pods, 'shop', 'pod')
  await taken('shop/newest')
  expect(errors).toEqual([])
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

test('several processes share one queue: no run is lost and none is at the same time', async () => {
  const informers = [deploymentInformer(), deploymentInformer(), deploymentInformer()]
  for (const informer of informers) enqueue(informer, queue)
  await server.untilWatches(3)
  server.set(deployments, deployment('web'))
  await expect.poll(() => queue.len()).toBe(1)
  await taken('shop/web')
})

test('a mapping that throws is reported, and the others go on', async () => {
  const mapping = ({ metadata }: V1Deployment): string => {
    if (metadata?.name === 'odd') throw new Error('odd')
    return metadata?.name ?? ''
  }
  enqueue(deploymentInformer(), queue, mapping, { onError })
  await server.untilWatches(1)
  server.set(deployments, deployment('odd'))
  server.set(deployments, deployment('web'))
  await taken('web')
  expect(errors).toEqual([new Error('odd')])
})

test('a key of a mapping that no queue can store is reported, and the others are added', async () => {
  const mapping = ({ metadata }: V1Deployment): string[] => ['', metadata?.name ?? '', 5 as never]
  enqueue(deploymentInformer(), queue, mapping, { onError })
  await server.untilWatches(1)
  server.set(deployments, deployment('web'))
  await taken('web')
  expect(errors.map(String)).toEqual([
    expect.stringContaining('mapping(object) must not be empty'),
    expect.stringContaining('mapping(object) must be a string; got 5'),
  ])
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
  const enqueueing = enqueueOn(informer, queue)
  await server.untilWatches(1)
  await enqueueing.stop()
  await expect.poll(() => server.watches).toBe(0)
  server.set(deployments, deployment('web'))
  expect(await queue.len()).toBe(0)
})

test('keys are split as they are put together', () => {
  expect(splitKey('shop/web')).toEqual({ namespace: 'shop', name: 'web' })
  expect(splitKey('node-1')).toEqual({ name: 'node-1' })
})
