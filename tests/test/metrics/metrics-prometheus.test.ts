import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { needs } from '@sluice/needs'
import { freePort } from '@sluice/needs/free-port'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const shipped = join(root, 'packages/metrics')
const hasPrometheus =
  spawnSync('prometheus', ['--version']).status === 0 &&
  spawnSync('promtool', ['--version']).status === 0

/** How often the example is scraped, and how often before anything is asked. */
const scrape = { everyMs: 250, times: 12 }

/** What the variables of dashboards stand for here. */
const variables: Readonly<Record<string, string>> = {
  $__rate_interval: '1m',
  $job: 'example',
  $namespace: 'shop',
  $pod: 'example-0',
  $cluster: 'here',
  $instance: '.*',
  $controller: 'orders',
  $queue: 'orders',
}

/** An expression with its variables filled in; a threshold becomes a yes or no, which is data too. */
function askable(expression: string): string {
  let filled = expression
  for (const [name, value] of Object.entries(variables)) filled = filled.replaceAll(name, value)
  return filled.replace(/ (>|==) (?=[\d.]+)/g, ' $1 bool ')
}

function knownExpressions(): string[] {
  return readFileSync(join(root, 'tests/support/metrics/known-promql.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

interface Panel {
  readonly targets?: readonly { readonly expr: string }[]
}

function dashboardExpressions(): string[] {
  const text = readFileSync(join(shipped, 'grafana/workqueue.json'), 'utf8')
  const { panels } = JSON.parse(text) as { panels: Panel[] }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}

test.skipIf(!needs('promtool', hasPrometheus))(
  'promtool finds nothing to say about the rules',
  () => {
    const check = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
      return `${status} ${stdout}${stderr}`
    }
    const rules = join(shipped, 'prometheus/rules.yaml')
    expect(check('check', 'rules', '--lint=all', rules)).toMatch(/^0 .*SUCCESS: 11 rules found/s)
    const cases = join(shipped, 'test/fixtures/rules.test.yaml')
    expect(check('test', 'rules', cases)).toMatch(/^0 .*SUCCESS/s)
  },
)

describe.skipIf(!needs('prometheus', hasPrometheus))(
  'a Prometheus that scrapes the example',
  () => {
    const children: ChildProcess[] = []
    const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'))
    let address = ''

    async function query<R>(path: string, parameters: Record<string, string>): Promise<R> {
      const response = await fetch(`${address}/api/v1/${path}?${new URLSearchParams(parameters)}`)
      return ((await response.json()) as { data: R }).data
    }

    async function samples(expression: string): Promise<unknown[]> {
      const data = await query<{ result?: unknown[] }>('query', { query: expression })
      return data?.result ?? []
    }

    /** Asks until something is found: a scrape that took too long leaves nothing, until the next. */
    async function finds(expression: string): Promise<void> {
      const probe = async () => expect(await samples(expression)).not.toEqual([])
      await vi.waitFor(probe, { timeout: 120_000, interval: 100 })
    }

    /** Asks until there is an answer: another process scrapes a third one by its own time. */
    async function until(isSo: () => Promise<boolean>): Promise<void> {
      const probe = async () => expect(await isSo().catch(() => false)).toBe(true)
      await vi.waitFor(probe, { timeout: 120_000, interval: 100 })
    }

    beforeAll(async () => {
      const example = spawn(
        process.execPath,
        ['--conditions=sluice-source', join(root, 'examples/metrics/src/serve.ts')],
        {
          env: { ...process.env, PORT: '0', NODE_OPTIONS: '' },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      children.push(example)
      const lines = createInterface(example.stdout as NodeJS.ReadableStream)
      const [line] = (await new Promise<[string]>((resolve) => {
        lines.once('line', (text: string) => resolve([text]))
      })) as [string]
      const port = await freePort()
      writeFileSync(
        join(folder, 'prometheus.yaml'),
        JSON.stringify({
          global: { scrape_interval: `${scrape.everyMs}ms`, evaluation_interval: '1s' },
          rule_files: [join(shipped, 'prometheus/rules.yaml')],
          scrape_configs: [
            {
              job_name: 'example',
              static_configs: [
                {
                  targets: [new URL(line).host],
                  labels: { namespace: 'shop', pod: 'example-0', cluster: 'here' },
                },
              ],
            },
          ],
        }),
      )
      address = `http://127.0.0.1:${port}`
      const args = [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ]
      children.push(spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'inherit'] }))
      await until(async () => {
        const counted = await samples(`sum_over_time(up{job="example"}[5m]) >= ${scrape.times}`)
        return counted.length > 0
      })
    })

    afterAll(async () => {
      await Promise.all(
        children.map(
          (child) =>
            new Promise((resolve) => {
              if (child.exitCode !== null) resolve(undefined)
              child.once('exit', resolve)
              child.kill('SIGTERM')
            }),
        ),
      )
      rmSync(folder, { recursive: true, force: true })
    })

    test.each(knownExpressions())('answers %s', async (expression) => {
      await finds(askable(expression))
    })

    test.each(dashboardExpressions())('answers the dashboard: %s', async (expression) => {
      await finds(askable(expression))
    })

    test('fills the variables of dashboards', async () => {
      const match = 'controller_runtime_reconcile_total{namespace=~"shop"}'
      const values = (label: string) =>
        query<string[]>(`label/${label}/values`, { 'match[]': match })
      expect(await values('namespace')).toEqual(['shop'])
      expect(await values('job')).toEqual(['example'])
      expect(await values('pod')).toEqual(['example-0'])
    })

    test('has taken in every alert', async () => {
      const { groups } = await query<{
        groups: { rules: { health: string; lastError?: string }[] }[]
      }>('rules', {})
      const rules = groups.flatMap((group) => group.rules)
      expect(rules).toHaveLength(11)
      expect(rules.filter(({ health }) => health === 'err')).toEqual([])
    })

    test('sees the numbers move', async () => {
      for (const expression of [
        'workqueue_adds_total > 20',
        'workqueue_deduplicated_total > 20',
        'workqueue_retries_total > 5',
        'controller_runtime_reconcile_total{result="success"} > 10',
        'controller_runtime_reconcile_total{result="error"} > 0',
        'controller_runtime_reconcile_total{result="requeue"} > 0',
        'controller_runtime_reconcile_total{result="requeue_after"} > 0',
        'controller_runtime_max_concurrent_reconciles == 4',
        'workqueue_delayed_items{reason="delay"} > 0',
        'workqueue_rate_limiter_delay_seconds_count > 0',
        'workqueue_work_duration_seconds_sum > 0',
        'sum(workqueue_depth) < 101',
      ]) {
        await finds(expression)
      }
    })
  },
)
