import { KubeConfig } from '@kubernetes/client-node'
import { type KubernetesServer, testKubernetes } from '@sluice/test-kubernetes'
import { createRateLimitingQueue, exponential, memoryDriver, type RateLimitingQueue } from 'sluice'
import { beforeEach, expect, test, vi } from 'vitest'
import { startOperator } from '../src/operator.ts'

const deployments = '/apis/apps/v1/deployments'
const configMaps = '/api/v1/configmaps'

let server: KubernetesServer
let queues: RateLimitingQueue<string>[]

beforeEach(async () => {
  server = await testKubernetes()
  // Three active operators with one store.
  const driver = memoryDriver()
  const limiter = exponential({ baseMs: 5, maxMs: 100 })
  queues = [1, 2, 3].map(() => createRateLimitingQueue<string>({ name: 'sizes', driver, limiter }))
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: 'test', server: server.url, skipTLSVerify: true }],
    users: [{ name: 'test' }],
    contexts: [{ name: 'test', cluster: 'test', user: 'test' }],
    currentContext: 'test',
  })
  const operators = await Promise.all(queues.map((queue) => startOperator(config, queue)))
  await server.untilWatches(6)
  return async () => {
    await Promise.all(operators.map((operator) => operator.stop()))
    await Promise.all(queues.map((queue) => queue.close()))
    await server.stop()
  }
})

function setDeployment(name: string, replicas: number): void {
  server.set(deployments, { metadata: { name, namespace: 'shop' }, spec: { replicas } })
}

/** The sizes that the config maps hold. */
function sizes(): Record<string, unknown> {
  return Object.fromEntries(
    server.list(configMaps).map(({ metadata, data }) => [metadata.name, data]),
  )
}

async function becomes(wanted: Record<string, unknown>): Promise<void> {
  await vi.waitFor(() => expect(sizes()).toEqual(wanted), { timeout: 120_000 })
}

test('config maps follow their deployments', async () => {
  setDeployment('web', 1)
  setDeployment('api', 2)
  await becomes({ 'web-size': { replicas: '1' }, 'api-size': { replicas: '2' } })
  for (let replicas = 2; replicas <= 50; replicas += 1) setDeployment('web', replicas)
  server.delete(deployments, 'shop', 'api')
  await becomes({ 'web-size': { replicas: '50' } })
})

test('what another client deletes or changes is put back', async () => {
  setDeployment('web', 3)
  await becomes({ 'web-size': { replicas: '3' } })
  server.delete(configMaps, 'shop', 'web-size')
  await becomes({ 'web-size': { replicas: '3' } })
  const [configMap] = server.list(configMaps)
  if (configMap !== undefined) server.set(configMaps, { ...configMap, data: { replicas: '99' } })
  await becomes({ 'web-size': { replicas: '3' } })
})

test('a server that forgets, cuts connections and fails delays it, and nothing more', async () => {
  setDeployment('web', 1)
  await becomes({ 'web-size': { replicas: '1' } })
  server.disconnect()
  setDeployment('web', 5)
  setDeployment('mail', 2)
  server.compact()
  server.fail({ of: 'list', status: 503, times: 2 })
  await becomes({ 'web-size': { replicas: '5' }, 'mail-size': { replicas: '2' } })
})
