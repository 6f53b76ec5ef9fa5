import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue } from '../../../packages/queue/src/index.ts'
import type { Server } from './server.ts'
import { record, type Samples } from './turns.ts'

const program = join(import.meta.dirname, 'fairness-worker.ts')
const concurrency = 10
const windowSeconds = 10
const seconds = 15

/** How often a producer adds, in milliseconds. */
const tickMs = 20

function passes(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A worker in another process, and how many handlers it has started by each second. */
class Counted {
  readonly child: ChildProcess
  counts: number[] = [0]

  constructor(url: string, handlerMs: number) {
    const flags = ['--conditions=sluice-source', '--no-warnings']
    const args = [...flags, program, url, String(handlerMs), String(concurrency)]
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.child.stdout?.on('data', (text) => {
      for (const line of String(text).trim().split('\n')) this.counts.push(Number(line))
    })
  }

  get last(): number {
    return this.counts.at(-1) ?? 0
  }
}

/**
 * Two workers in two processes, and a producer in a third one that adds as much as a share of what the
 * two can do together: the smaller share of a worker in any ten seconds.
 */
export async function fairness(server: Server): Promise<Samples> {
  const samples: Samples = {}
  const driver = postgresDriver({ connectionString: server.url })
  const queue = createQueue<string>({ name: 'fair', driver })
  let made = 0
  const add = async (count: number): Promise<void> => {
    const keys = Array.from({ length: count }, () => {
      made += 1
      return `key ${made}`
    })
    for (let at = 0; at < count; at += 1_000) await queue.addMany(keys.slice(at, at + 1_000))
  }
  for (const handlerMs of [1, 50]) {
    const workers = [new Counted(server.url, handlerMs), new Counted(server.url, handlerMs)]
    const sum = (): number => workers.reduce((all, { last }) => all + last, 0)
    await add(100)
    while (sum() < 100) await passes(100)
    // As much as they can do together: there is always more.
    const before = sum()
    const beganAt = performance.now()
    while (performance.now() - beganAt < 5_000) {
      while ((await queue.len()) < 2_000) await add(2_000)
      await passes(tickMs)
    }
    const perMs = (sum() - before) / (performance.now() - beganAt)
    for (const share of [0.5, 0.95]) {
      while ((await queue.len()) > 0) await passes(50)
      await passes(1_000)
      for (const worker of workers) worker.counts = []
      const startedAt = performance.now()
      let added = 0
      while (performance.now() - startedAt < seconds * 1_000) {
        const wanted = Math.round((performance.now() - startedAt) * perMs * share)
        if (wanted > added) await add(wanted - added)
        added = wanted
        await passes(tickMs)
      }
      const name = `handlers of ${handlerMs} ms, ${share * 100} % of ${(perMs * 1_000).toFixed(0)}/s`
      const [one, two] = workers.map(({ counts }) => counts)
      for (let at = 0; at + windowSeconds < Math.min(one!.length, two!.length); at += 1) {
        const of = (counts: number[]): number => counts[at + windowSeconds]! - counts[at]!
        const [a, b] = [of(one!), of(two!)]
        record(samples, name, { smallerShare: Math.min(a, b) / (a + b) })
      }
    }
    for (const { child } of workers) child.kill('SIGKILL')
    await server.sql('truncate sluice.keys')
  }
  await queue.close()
  return samples
}
