import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteDriver } from '@sluice/sqlite'
import { type KubernetesServer, testKubernetes } from '@sluice/test-kubernetes'
import { createRateLimitingQueue, type RateLimitingQueue } from 'sluice'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const deployments = '/apis/apps/v1/deployments'
const configMaps = '/api/v1/configmaps'
const patience = { timeout: 45_000 }

let server: KubernetesServer
let folder: string
let queue: RateLimitingQueue<string>

beforeEach(async () => {
  server = await testKubernetes()
  folder = mkdtempSync(join(tmpdir(), 'sluice-operator-'))
  const kubeConfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  }
  writeFileSync(join(folder, 'config'), JSON.stringify(kubeConfig))
  const driver = sqliteDriver({ file: join(folder, 'operator.db') })
  queue = createRateLimitingQueue<string>({ name: 'sizes', driver })
  await queue.len()
  return async () => {
    await queue.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
})

function startProcess(): ChildProcess {
  const program = new URL('../src/main.ts', import.meta.url)
  const child = fork(program, [join(folder, 'operator.db'), '1000'], {
    execArgv: ['--conditions=sluice-source', '--no-warnings'],
    env: { ...process.env, KUBECONFIG: join(folder, 'config') },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

function setDeployment(name: string, replicas: number): void {
  server.set(deployments, { metadata: { name, namespace: 'shop' }, spec: { replicas } })
}

/** The replicas that the config maps hold. */
function sizes(): Record<string, unknown> {
  return Object.fromEntries(
    server.list(configMaps).map(({ metadata, data }) => [metadata.name, data]),
  )
}

/** The process that holds a key. */
async function holderOf(key: string): Promise<number | undefined> {
  const { held } = (await queue.inspect.get(key)) ?? {}
  const workers = await queue.inspect.workers()
  return workers.find(({ holder }) => holder === held?.holder)?.pid
}

test('processes without a leader: one is killed at work, and another goes on', async () => {
  const children = [startProcess(), startProcess(), startProcess()]
  await vi.waitFor(() => expect(server.watches).toBe(6), patience)
  const goOn = server.stallWrites()
  setDeployment('web', 1)
  await vi.waitFor(() => expect(server.stalled).toBe(1), patience)
  const pid = await holderOf('shop/web')
  const victim = children.find((child) => child.pid === pid)
  expect(victim).toBeDefined()
  victim?.kill('SIGKILL')
  await once(victim as ChildProcess, 'exit')
  goOn()
  expect(sizes()).toEqual({})
  // real time: the lease of the killed process ends after a second, in processes that have no other clock
  await vi.waitFor(() => expect(sizes()).toEqual({ 'web-size': { replicas: '1' } }), patience)

  // One that is left stops in order, and the last one goes on.
  const [first, last] = children.filter((child) => child !== victim)
  first?.kill('SIGTERM')
  expect(await once(first as ChildProcess, 'exit')).toEqual([0, null])
  setDeployment('web', 4)
  setDeployment('api', 2)
  await vi.waitFor(
    () => expect(sizes()).toEqual({ 'web-size': { replicas: '4' }, 'api-size': { replicas: '2' } }),
    patience,
  )
  expect(last?.exitCode).toBe(null)
})
