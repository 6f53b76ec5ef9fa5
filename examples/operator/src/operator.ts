import {
  AppsV1Api,
  CoreV1Api,
  type KubeConfig,
  makeInformer,
  type V1ConfigMap,
  type V1Deployment,
} from '@kubernetes/client-node'
import { enqueueOn, ownerKeys, splitKey } from '@sluice/kubernetes'
import { createWorker, type RateLimitingQueue } from 'sluice'

/** An operator that runs. */
export interface Operator {
  stop(): Promise<void>
}

/** Keeps a config map for each deployment. Resolves when it has read all of them, and works. */
export async function startOperator(
  config: KubeConfig,
  queue: RateLimitingQueue<string>,
): Promise<Operator> {
  const apps = config.makeApiClient(AppsV1Api)
  const core = config.makeApiClient(CoreV1Api)
  const deployments = makeInformer<V1Deployment>(config, '/apis/apps/v1/deployments', () =>
    apps.listDeploymentForAllNamespaces(),
  )
  const configMaps = makeInformer<V1ConfigMap>(config, '/api/v1/configmaps', () =>
    core.listConfigMapForAllNamespaces(),
  )

  /** Compares what is wanted with what exists, and does one step. */
  async function reconcile(key: string): Promise<void> {
    const { namespace = 'default', name } = splitKey(key)
    const deployment = deployments.get(name, namespace)
    const existing = configMaps.get(`${name}-size`, namespace)
    if (deployment === undefined) {
      if (existing !== undefined)
        await core.deleteNamespacedConfigMap({ namespace, name: `${name}-size` })
      return
    }
    const replicas = String(deployment.spec?.replicas ?? 1)
    if (existing?.data?.['replicas'] === replicas) return
    const body: V1ConfigMap = {
      metadata: {
        name: `${name}-size`,
        namespace,
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name,
            uid: deployment.metadata?.uid ?? '',
            controller: true,
          },
        ],
      },
      data: { replicas },
    }
    if (existing === undefined) await core.createNamespacedConfigMap({ namespace, body })
    else await core.replaceNamespacedConfigMap({ namespace, name: `${name}-size`, body })
  }

  const watched = [
    enqueueOn(deployments, queue, undefined, { resyncMs: 600_000 }),
    enqueueOn(configMaps, queue, ownerKeys({ kind: 'Deployment', group: 'apps' })),
  ]
  // Until everything is listed, a deployment that is not in the cache may exist: its config map must stay.
  await Promise.all(watched.map(({ synced }) => synced))
  const worker = createWorker<string>({ queue, concurrency: 4, handler: reconcile })
  return {
    async stop() {
      await Promise.all(watched.map((one) => one.stop()))
      await worker.stop()
    },
  }
}
