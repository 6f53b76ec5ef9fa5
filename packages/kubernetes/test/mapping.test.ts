import { CoreV1Api, makeInformer, type V1Deployment } from '@kubernetes/client-node'
import type { ApiObject } from '@sluice/test-kubernetes'
import { expect, onTestFinished, test } from 'vitest'
import { ChangedKeys } from '../src/changed-keys.ts'
import { enqueueOn, objectKey, ownerKeys, splitKey } from '../src/index.ts'
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
  // Created again, it has nothing to do with the owner of the one that was deleted.
  server.set(pods, pod('another'))
  await expect.poll(() => queue.len()).toBe(1)
  await taken('shop/another')
  expect(errors).toEqual([])
})

test('an object that has its own key again adds no other one', async () => {
  const mapping = ({ metadata, spec }: V1Deployment): string =>
    spec?.replicas === 1 ? `shop/${metadata?.name}` : 'shop/all'
  enqueue(deploymentInformer(), queue, mapping, { onError })
  await server.untilWatches(1)
  const keys = [['shop/all'], ['shop/all', 'shop/web'], ['shop/web']]
  for (const [index, replicas] of [2, 1, 1].entries()) {
    server.set(deployments, deployment('web', replicas))
    await expect.poll(() => queue.len()).toBe(keys[index]?.length)
    const held = await queue.getMany(10)
    expect(held.map(({ item }) => item)).toEqual(keys[index])
    await queue.doneMany(held)
  }
})

test('an object that a mapping gives no key adds nothing', async () => {
  const mapping = ({ metadata }: V1Deployment) =>
    metadata?.name === 'web' ? metadata.name : undefined
  enqueue(deploymentInformer(), queue, mapping, { onError })
  await server.untilWatches(1)
  server.set(deployments, deployment('odd'))
  server.set(deployments, deployment('web'))
  await taken('web')
  expect(await queue.len()).toBe(0)
  expect(errors).toEqual([])
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

test('a key beside the own one that an object loses is added', () => {
  const keys = new ChangedKeys<{ metadata: { name: string }; owner?: string }>(
    ({ metadata, owner }) => (owner === undefined ? metadata.name : [metadata.name, owner]),
    onError,
  )
  const metadata = { name: 'pod' }
  expect([...keys.changed({ metadata, owner: 'old' })]).toEqual(['pod', 'old'])
  expect([...keys.changed({ metadata })]).toEqual(['pod', 'old'])
  expect([...keys.changed({ metadata })]).toEqual(['pod'])
})

test('owners of the core group, without a namespace, that do not control', () => {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1' }
  const pod = { metadata: { name: 'pod', namespace: 'shop', ownerReferences: [owner] } }
  const kind = { kind: 'Node', group: '' }
  expect(ownerKeys(kind)(pod)).toEqual([])
  expect(ownerKeys({ ...kind, all: true })(pod)).toEqual(['shop/node-1'])
  expect(ownerKeys({ ...kind, all: true, clusterScoped: true })(pod)).toEqual(['node-1'])
  const nameless = { metadata: { ownerReferences: [{ ...owner, name: '' }] } }
  expect(ownerKeys({ ...kind, all: true })(nameless)).toEqual([])
  expect(ownerKeys(kind)({})).toEqual([])
})

test.for<[string, unknown]>([
  ["owner must be an object; got 'Deployment'", 'Deployment'],
  ['kind must be a string; got undefined', {}],
  ["owner.Kind is not a known option; did you mean 'kind'?", { Kind: 'Deployment' }],
  ['group must be a string; got null', { kind: 'Deployment', group: null }],
  ["group must not contain a version; got 'apps/v1'", { kind: 'Deployment', group: 'apps/v1' }],
  ["all must be true or false; got 'yes'", { kind: 'Deployment', all: 'yes' }],
  ['clusterScoped must be true or false; got 1', { kind: 'Node', clusterScoped: 1 }],
])('owners that no object can have are refused: %s', ([message, owner]) => {
  expect(() => ownerKeys(owner as { kind: string })).toThrow(message)
})

test('keys are split as they are put together', () => {
  expect(objectKey({ metadata: { namespace: 'shop', name: 'web' } })).toBe('shop/web')
  expect(objectKey({ metadata: { namespace: '', name: 'node-1' } })).toBe('node-1')
  expect(objectKey({ metadata: { name: 'node-1' } })).toBe('node-1')
  expect(objectKey({ metadata: { namespace: 'shop', name: '' } })).toBe(undefined)
  expect(objectKey({ metadata: { namespace: 'shop' } })).toBe(undefined)
  expect(objectKey({})).toBe(undefined)
  expect(splitKey('shop/web')).toEqual({ namespace: 'shop', name: 'web' })
  expect(splitKey('node-1')).toEqual({ name: 'node-1' })
})

test('what is no object and no key is refused, with its name', () => {
  expect(() => objectKey(undefined as never)).toThrow('object must be an object; got undefined')
  expect(() => splitKey(5 as never)).toThrow('key must be a string; got 5')
})
