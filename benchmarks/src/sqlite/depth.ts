import { join } from 'node:path'
import { type Ask, batchKeysMax, type Driver } from '../../../packages/core/src/index.ts'
import { sqliteDriver } from '../../../packages/sqlite/src/index.ts'

/** The keys other than those that are claimed. */
export const backlogs = {
  'ready behind them': {},
  'delayed, at the highest of 10 priorities': { delayMs: 3_600_000, priority: 9 },
  'delayed, at 10 priorities': { delayMs: 3_600_000, spread: 10 },
  'parked, at the highest of 10 priorities': { parked: true, priority: 9 },
} as const satisfies Readonly<Record<string, Backlog>>

interface Backlog {
  readonly delayMs?: number
  readonly priority?: number
  readonly spread?: number
  readonly parked?: boolean
}

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const claimsPerSample = 20

async function fill(store: Driver, count: number, backlog: Backlog): Promise<void> {
  const { delayMs = 0, priority = 0, spread = 1, parked = false } = backlog
  for (let start = 0; start < count; start += batchKeysMax) {
    const length = Math.min(batchKeysMax, count - start)
    const asks = Array.from({ length }, (_, index): Ask => {
      const nth = start + index
      return {
        key: `backlog-${nth}`,
        item: undefined,
        priority: priority + (nth % spread),
        delayMs,
      }
    })
    await store.add('q', asks, options)
    if (parked)
      await store.operate?.park(
        'q',
        asks.map(({ key }) => key),
      )
  }
}

/** A store with a backlog, at which claims can be measured. */
export class DeepStore {
  readonly #store: Driver
  readonly #isReady: boolean
  #count = 0

  private constructor(store: Driver, isReady: boolean) {
    this.#store = store
    this.#isReady = isReady
  }

  static async open(
    folder: string,
    depth: number,
    name: keyof typeof backlogs,
  ): Promise<DeepStore> {
    const file = join(folder, `${depth}.db`)
    const store = sqliteDriver({ file, durability: 'process' })
    await store.open({})
    await fill(store, depth, backlogs[name])
    return new DeepStore(store, name === 'ready behind them')
  }

  /** How long it takes to claim a key and to finish it, and to claim in vain, in milliseconds. */
  async sample(clockMs: () => number): Promise<{ readonly hit: number; readonly vain: number }> {
    let hit = 0
    let vain = 0
    for (let nth = 0; nth < claimsPerSample; nth += 1) {
      this.#count += 1
      // In front of what is ready; behind, by priority, what is not.
      const priority = this.#isReady ? 9 : 0
      await this.#store.add(
        'q',
        [{ key: `key-${this.#count}`, item: undefined, priority, delayMs: 0 }],
        options,
      )
      const request = {
        limit: 1,
        holder: 'holder',
        claimId: `claim ${this.#count}`,
        leaseMs: 30_000,
      }
      const startedAt = clockMs()
      const { claims } = await this.#store.claim('q', request)
      await this.#store.finish(
        'q',
        claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
        options,
      )
      const hitAt = clockMs()
      hit += hitAt - startedAt
      if (this.#isReady) continue
      await this.#store.claim('q', request)
      vain += clockMs() - hitAt
    }
    return { hit: hit / claimsPerSample, vain: vain / claimsPerSample }
  }

  async close(): Promise<void> {
    await this.#store.close()
  }
}
