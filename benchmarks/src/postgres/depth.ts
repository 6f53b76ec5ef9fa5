import type { Driver } from '../../../packages/core/src/index.ts'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import type { Server } from './server.ts'

/** The keys other than those that are claimed, as columns of the table of keys. */
export const backlogs = {
  'ready behind them': { dueAt: '1', priority: '0', parked: 'false' },
  'delayed, at the same priority': { dueAt: '1e15', priority: '0', parked: 'false' },
  'delayed, at the highest of 10 priorities': { dueAt: '1e15', priority: '9', parked: 'false' },
  'delayed, at 10 priorities': { dueAt: '1e15', priority: 'n % 10', parked: 'false' },
  'parked, at the highest of 10 priorities': { dueAt: '1', priority: '9', parked: 'true' },
} as const

/** What the driver's function queue_number gives for the queue q. */
const queueNumber = "('x' || encode(substr(sha256('q'), 1, 8), 'hex'))::bit(64)::bigint"

const askOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const claimsPerSample = 20

/** A schema with a backlog, at which claims can be measured. */
export class DeepStore {
  readonly #store: Driver
  readonly #priority: number
  #count = 0

  private constructor(store: Driver, priority: number) {
    this.#store = store
    this.#priority = priority
  }

  static async open(
    server: Server,
    depth: number,
    name: keyof typeof backlogs,
  ): Promise<DeepStore> {
    const schema = `depth_${depth}`
    await server.sql(`drop schema if exists ${schema} cascade`)
    const store = postgresDriver({ connectionString: server.url, schema, poolSize: 2 })
    await store.open({})
    const { dueAt, priority, parked } = backlogs[name]
    // By hand, since it is not what is measured; as the driver would have written it.
    await server.sql(
      `insert into ${schema}.keys
        (queue_id, queue, key, due_at, ready_at, why, seq, priority, asked_at, parked)
      select ${queueNumber}, 'q', 'backlog-' || n, ${dueAt}, ${dueAt}, (${dueAt} > 1)::int, n, ${priority}, 1, ${parked}
      from generate_series(1, ${depth}) as n`,
    )
    await server.sql('checkpoint')
    // In front of what is ready; behind, by priority, what is not.
    return new DeepStore(store, name === 'ready behind them' ? 9 : 0)
  }

  /** How long it takes to claim a key and to finish it, in milliseconds. */
  async sample(): Promise<number> {
    let ms = 0
    for (let nth = 0; nth < claimsPerSample; nth += 1) {
      this.#count += 1
      const ask = { key: `key-${this.#count}`, item: undefined, delayMs: 0 }
      await this.#store.add('q', [{ ...ask, priority: this.#priority }], askOptions)
      const request = {
        limit: 1,
        holder: 'holder',
        claimId: `claim ${this.#count}`,
        leaseMs: 30_000,
      }
      const startedAt = performance.now()
      const { claims } = await this.#store.claim('q', request)
      ms += performance.now() - startedAt
      await this.#store.finish(
        'q',
        claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const),
        askOptions,
      )
    }
    return ms / claimsPerSample
  }

  async close(): Promise<void> {
    await this.#store.close()
  }
}
