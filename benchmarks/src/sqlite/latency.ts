import { fork } from 'node:child_process'
import { join } from 'node:path'
import { sqliteDriver } from '../../../packages/sqlite/src/index.ts'

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

/**
 * How long it takes from before an add in this process until a worker that waits in another one
 * begins with the key, in milliseconds.
 */
export async function latencies(folder: string, count: number): Promise<number[]> {
  const file = join(folder, 'latency.db')
  const store = sqliteDriver({ file, durability: 'process' })
  await store.open({})
  const child = fork(join(import.meta.dirname, 'latency-worker.ts'), [file], {
    execArgv: ['--conditions=sluice-source', '--no-warnings'],
  })
  const next = (): Promise<number> =>
    new Promise((resolve) => {
      child.once('message', (at) => resolve(at as number))
    })
  await next()
  const found: number[] = []
  for (let nth = 0; nth < count; nth += 1) {
    // At no fixed distance from the moments at which the other process looks.
    await new Promise((resolve) => setTimeout(resolve, 10 + ((nth * 7) % 13)))
    const begins = next()
    const askedAt = Number(process.hrtime.bigint()) / 1e6
    const ask = { key: `key-${nth}`, item: undefined, priority: 0, delayMs: 0 }
    await store.add('q', [ask], options)
    found.push((await begins) - askedAt)
  }
  child.kill()
  await store.close()
  return found
}
