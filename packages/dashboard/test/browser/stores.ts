import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresDriver } from '@sluice/postgres'
import { sqliteDriver } from '@sluice/sqlite'
import type { PostgresServer } from '@sluice/test-postgres'
import {
  createRateLimitingQueue,
  createWorker,
  type Driver,
  exponential,
  maxOf,
  type RateLimitingQueue,
  tokenBucket,
  type Worker,
} from 'sluice'

/** Real stores for one file of tests. */
export class Stores {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'sluice-page-'))
  readonly #open: (() => Promise<unknown>)[] = []
  #made = 0

  sqlite(): Driver {
    this.#made += 1
    return sqliteDriver({ file: join(this.#folder, `${this.#made}.db`), durability: 'process' })
  }

  postgres({ url }: PostgresServer): Driver {
    this.#made += 1
    return postgresDriver({
      connectionString: url,
      schema: `page_${process.pid}_${this.#made}`,
      onWarning() {},
    })
  }

  /** A queue that backs off for an hour, so that what backs off stays so while a test looks. */
  queue(driver: Driver, name: string, leaseMs = 30_000): RateLimitingQueue<unknown> {
    const queue = createRateLimitingQueue<unknown>({
      name,
      driver,
      leaseMs,
      limiter: maxOf(
        exponential({ baseMs: 3_600_000, maxMs: 36_000_000 }),
        tokenBucket({ name: `${name}-bucket`, perSecond: 50, burst: 100 }),
      ),
      errorStacks: true,
      onError: () => undefined,
    })
    this.#open.push(() => queue.close())
    return queue
  }

  /** A worker with its own queue object, as in a process of its own. */
  worker(
    driver: Driver,
    name: string,
    handler: (item: unknown, signal: AbortSignal) => Promise<void>,
    concurrency = 2,
  ): Worker {
    const worker = createWorker<unknown>({
      queue: this.queue(driver, name),
      concurrency,
      handler: (item, { signal }) => handler(item, signal),
      onError: () => undefined,
    })
    this.#open.push(() => worker.stop({ graceMs: 0 }))
    return worker
  }

  /**
   * A worker that holds the first key it gets until it is stopped, and has told the store so. Workers
   * tell what they do when one of their process starts or stops, and else every ten seconds only. It runs
   * the key `again` every second meanwhile: of runs that are more than a minute old, no durations are shown.
   */
  async busyWorker(driver: Driver, name: string, again?: string): Promise<void> {
    const queue = this.queue(driver, name)
    const { promise: isBusy, resolve: busy } = Promise.withResolvers<void>()
    const start = (concurrency: number) =>
      createWorker<unknown>({
        queue,
        concurrency,
        handler: async (item, { signal }) => {
          if (item === again) return { requeueAfterMs: 1_000 }
          busy()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          return undefined
        },
        onError: () => undefined,
      })
    const worker = start(2)
    this.#open.push(() => worker.stop({ graceMs: 0 }))
    await isBusy
    await start(1).stop({ graceMs: 0 })
  }

  /** To be closed with the rest, before it. */
  closing(close: () => Promise<unknown>): void {
    this.#open.push(close)
  }

  /** Ends what the last test opened, newest first. */
  async closeAll(): Promise<void> {
    for (const close of this.#open.splice(0).reverse()) await close()
  }

  async dispose(): Promise<void> {
    await this.closeAll()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** An error with a code, as libraries throw them. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** Fails a run of a key once. */
export async function failOnce(
  queue: RateLimitingQueue<unknown>,
  item: unknown,
  error: Error,
): Promise<void> {
  await queue.add(item)
  const held = await queue.get()
  await held?.retry(error)
}
