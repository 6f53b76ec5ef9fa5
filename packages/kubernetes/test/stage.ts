/** The real client of Kubernetes, against a real HTTP server that speaks list and watch. */
import { AppsV1Api, KubeConfig, makeInformer, type V1Deployment } from '@kubernetes/client-node'
import { type ApiObject, type KubernetesServer, testKubernetes } from '@sluice/test-kubernetes'
import { createRateLimitingQueue, type RateLimitingQueue } from 'sluice'
import { beforeEach, onTestFinished } from 'vitest'
import { enqueueOn } from '../src/index.ts'

export const deployments = '/apis/apps/v1/deployments'
export const pods = '/api/v1/pods'

export let server: KubernetesServer
export let config: KubeConfig
export let queue: RateLimitingQueue<string>
export let errors: unknown[]

/** Each test of a file gets a server and a queue of its own. */
export function serverForEach(): void {
  beforeEach(async () => {
    server = await testKubernetes()
    config = new KubeConfig()
    config.loadFromOptions({
      clusters: [{ name: 'test', server: server.url, skipTLSVerify: true }],
      users: [{ name: 'test' }],
      contexts: [{ name: 'test', cluster: 'test', user: 'test' }],
      currentContext: 'test',
    })
    errors = []
    queue = createRateLimitingQueue<string>({ name: 'deployments', onError })
    return async () => {
      await queue.close()
      await server.stop()
    }
  })
}

export function deployment(name: string, replicas = 1): ApiObject {
  const metadata = { name, namespace: 'shop' }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } }
}

export function deploymentInformer() {
  const api = config.makeApiClient(AppsV1Api)
  return makeInformer<V1Deployment>(config, deployments, () => api.listDeploymentForAllNamespaces())
}

export const onError = (error: unknown): void => void errors.push(error)

/** Begins, and ends with the test. */
export function enqueue(...args: Parameters<typeof enqueueOn<V1Deployment>>) {
  const enqueueing = enqueueOn(...args)
  onTestFinished(() => enqueueing.stop())
  return enqueueing
}

/** Takes keys until all of these were taken. */
export async function taken(...keys: readonly string[]): Promise<void> {
  const missing = new Set(keys)
  while (missing.size > 0) {
    const held = await queue.get()
    if (held === undefined) throw new Error('the queue has ended')
    missing.delete(held.item)
    await held.done()
  }
}
