import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KubernetesServer, testKubernetes } from '@sluice/test-kubernetes'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const deployments = '/apis/apps/v1/deployments'
const configMaps = '/api/v1/configmaps'
// Only ends what hangs.
const patience = { timeout: 90_000 }
// Longer than a machine holds a process up, whose keys another one would take.
const leaseMs = 12_000

let server: KubernetesServer
let folder: string
/** The replicas of each deployment. */
let wanted: Map<string, number>

beforeEach(async () => {
  server = await testKubernetes()
  wanted = new Map()
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
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
})

/** Starts so many operators on the one file; resolves when they watch. */
async function startProcesses(count: number): Promise<ChildProcess[]> {
  const before = server.served.watch
  const program = new URL('../src/run-operator.ts', import.meta.url)
  const recorder = new URL('record-runs.ts', import.meta.url)
  const children = Array.from({ length: count }, () => {
    const child = fork(program, [join(folder, 'operator.db'), String(leaseMs)], {
      execArgv: ['--conditions=sluice-source', '--no-warnings', `--import=${recorder}`],
      env: { ...process.env, KUBECONFIG: join(folder, 'config'), RUNS: join(folder, 'runs') },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  })
  await server.untilWatches(before + 2 * count)
  return children
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function setDeployment(name: string, replicas: number): void {
  wanted.set(name, replicas)
  server.set(deployments, { metadata: { name, namespace: 'shop' }, spec: { replicas } })
}

function deleteDeployment(name: string): void {
  wanted.delete(name)
  server.delete(deployments, 'shop', name)
}

/** The replicas that the config maps hold. */
function sizes(): Record<string, unknown> {
  return Object.fromEntries(
    server.list(configMaps).map(({ metadata, data }) => [metadata.name, data]),
  )
}

async function untilReconciled(): Promise<void> {
  const entries = [...wanted].map(([name, replicas]) => [
    `${name}-size`,
    { replicas: String(replicas) },
  ])
  // real time: the leases of a killed process end in processes that have no other clock.
  await vi.waitFor(() => expect(sizes()).toEqual(Object.fromEntries(entries)), patience)
}

/** The processes that began a run; rejects two that have one key at the same time. */
function runners(dead: readonly (number | undefined)[]): Set<number> {
  const holders = new Map<string, number>()
  const seen = new Set<number>()
  for (const line of readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n')) {
    const [sign, pid, key = ''] = line.split(' ')
    const holder = holders.get(key)
    if (sign === '-') {
      expect([key, holder]).toEqual([key, Number(pid)])
      holders.delete(key)
      continue
    }
    // What a killed process held is free when its lease has ended.
    if (holder !== undefined) expect(dead).toContain(holder)
    holders.set(key, Number(pid))
    seen.add(Number(pid))
  }
  return seen
}

test('killed processes are replaced, and no object is forgotten', {
  timeout: 300_000,
}, async () => {
  const first = await startProcesses(3)
  const goOn = server.stallWrites()
  for (let n = 0; n < 30; n += 1) setDeployment(`d${n}`, n)
  // Each of the three has four keys in its hands.
  await vi.waitFor(() => expect(server.stalled).toBe(12), patience)
  const [victim, ...others] = first
  await killed(victim!)
  const [joined] = await startProcesses(1)
  for (let n = 0; n < 30; n += 3) setDeployment(`d${n}`, 100 + n)
  for (let n = 1; n < 30; n += 3) deleteDeployment(`d${n}`)
  goOn()
  await untilReconciled()

  // The others end in order, and the one that came later goes on alone.
  const exits = others.map((child) => once(child, 'exit'))
  for (const child of others) child.kill('SIGTERM')
  expect(await Promise.all(exits)).toEqual(others.map(() => [0, null]))
  for (let n = 0; n < 60; n += 2) setDeployment(`d${n}`, 200 + n)
  await untilReconciled()

  // Nobody runs while this changes, and the server forgets that it did.
  const stalled = server.stalled
  server.stallWrites()
  setDeployment('d0', 300)
  await vi.waitFor(() => expect(server.stalled).toBeGreaterThan(stalled), patience)
  await killed(joined!)
  setDeployment('d1', 301)
  deleteDeployment('d2')
  server.compact()
  server.stallWrites()()
  const [last] = await startProcesses(1)
  await untilReconciled()

  const pids = [...first, joined, last].map((child) => child?.pid)
  expect(runners([victim?.pid, joined?.pid])).toEqual(new Set(pids))
})
