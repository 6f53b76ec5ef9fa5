import type { Driver, ImportOutcome } from '@sluice/core'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import { ModelStore } from '../../../src/model/model-store.ts'
import { altered } from '../../../src/model/model-subject.ts'
import { type Mutant, mutant, verbMutant } from '../mutant.ts'
import { emptying, othersMutant } from './others-mutant.ts'

/** Wakes the first queue of a turn only. */
class FirstWake extends ModelStore {
  #hasWoken = false

  override wake(queue: string | undefined): void {
    if (this.#hasWoken) return
    this.#hasWoken = true
    queueMicrotask(() => {
      this.#hasWoken = false
    })
    super.wake(queue)
  }
}

/** Yields, so that other calls run in between. */
async function meanwhile(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await undefined
}

/** The verbs one key at a time, so that a batch that fails has been done in part. */
function oneByOne(driver: ModelDriver): Partial<Driver> {
  return {
    add: (queue, asks, options) => asks.flatMap((ask) => driver.add(queue, [ask], options)),
    finish: (queue, all, options) => all.flatMap((each) => driver.finish(queue, [each], options)),
    renew: (queue, all, leaseMs) => all.flatMap((each) => driver.renew(queue, [each], leaseMs)),
    expire: (queue, all, options) => all.flatMap((each) => driver.expire(queue, [each], options)),
    transfer: {
      ...driver.transfer,
      async importRows(queue, rows) {
        const outcomes: ImportOutcome[] = []
        for (const row of rows) outcomes.push(...(await driver.transfer.importRows(queue, [row])))
        return outcomes
      },
    },
  }
}

/** One verb that commits its partial work when it fails. */
function halfMutant(verb: 'add' | 'finish' | 'renew' | 'expire' | 'transfer'): Mutant {
  return verbMutant(`whole-${verb}`, `${verb} that fails keeps what it has done`, (driver) => ({
    [verb]: oneByOne(driver)[verb],
  }))
}

/** Correct for one queue and one driver; one fault each with several. */
export const concurrentMutants: readonly Mutant[] = [
  mutant('concurrent-first-wake', 'of the queues of one turn only the first is woken', () => ({
    store: new FirstWake(),
  })),
  verbMutant(
    'concurrent-one-claim',
    'of claims in several queues in one turn only one is made',
    (driver) => {
      let claiming: string | undefined
      return {
        async claim(queue, request) {
          const isOther = claiming !== undefined && claiming !== queue
          claiming ??= queue
          await meanwhile()
          if (!isOther) claiming = undefined
          const reply = driver.claim(queue, isOther ? { ...request, dueBy: 0 } : request)
          return reply
        },
      }
    },
  ),
  verbMutant(
    'concurrent-purge-others',
    'a large purge sweeps the next queue too',
    (driver, store) => ({
      operate: {
        ...driver.operate,
        async purge(queue) {
          const count = await driver.operate.purge(queue)
          const [other] = [...store.queues.keys()].filter((name) => name !== queue)
          if (count > 1_000 && other !== undefined) await driver.operate.purge(other)
          return count
        },
      },
    }),
  ),
  verbMutant(
    'concurrent-purge-adds',
    'a large purge removes the keys that are added meanwhile',
    (driver) => ({
      operate: {
        ...driver.operate,
        async purge(queue) {
          const count = await driver.operate.purge(queue)
          for (let turn = 0; count > 2_000 && turn < 100; turn += 1) await meanwhile()
          await driver.operate.purge(queue)
          return count
        },
      },
    }),
  ),
  verbMutant(
    'concurrent-claims-twice',
    'drivers that claim concurrently get the same keys',
    (driver, store) => ({
      async claim(queue, request) {
        const before = new Map(
          [...store.queue(queue).keys].map(([key, { state }]) => [key, structuredClone(state)]),
        )
        await meanwhile()
        for (const [key, state] of before) {
          const entry = store.queue(queue).keys.get(key)
          if (entry === undefined || entry.state.token === state.token || state.token !== 0)
            continue
          if (entry.holder !== request.holder) Object.assign(entry.state, state)
        }
        return driver.claim(queue, request)
      },
    }),
  ),
  mutant('concurrent-adds-lost', 'of drivers that add concurrently only one adds', () => {
    let adding = 0
    return {
      alter: (driver) => ({
        async add(queue, asks, options) {
          adding += 1
          await meanwhile()
          const isLast = adding === 1
          adding -= 1
          const replies = driver.add(queue, asks, options)
          const [first] = asks
          if (!isLast && first !== undefined && asks.length >= 50) driver.cancel(queue, [first.key])
          return replies
        },
      }),
    }
  }),
  mutant('concurrent-token-blocks', 'each driver draws tokens from its own blocks', () => {
    let blocks = 0
    class Blocks extends ModelStore {
      next: (() => number) | undefined

      override nextToken(): number {
        return this.next?.() ?? super.nextToken()
      }
    }
    const store = new Blocks()
    return {
      store,
      alter(driver) {
        let left = 0
        let token = 0
        const next = (): number => {
          if (left === 0) {
            token = blocks * 2_000
            blocks += 1
            left = 2_000
          }
          left -= 1
          token += 1
          return token
        }
        return {
          claim(queue, request) {
            store.next = next
            return driver.claim(queue, request)
          },
        }
      },
    }
  }),
  verbMutant(
    'concurrent-own-renew',
    'a driver renews a few leases of others, and reports all',
    (driver) => {
      const mine = new Set<number>()
      return {
        claim(queue, request) {
          const reply = driver.claim(queue, request)
          for (const { token } of reply.claims) mine.add(token)
          return reply
        },
        renew(queue, leases, leaseMs) {
          const some = leases.filter(({ token }, i) => mine.has(token) || i < 100)
          const replies = driver.renew(queue, some, leaseMs)
          return leases.map((_, i) => replies[i] ?? { outcome: 'renewed', leaseUntil: Infinity })
        },
      }
    },
  ),
  verbMutant(
    'concurrent-max-pending',
    'a driver counts pending keys before it waits for others',
    (driver, store) => ({
      async add(queue, asks, options) {
        const { maxPending } = options
        if (maxPending === undefined || asks.length === 1) return driver.add(queue, asks, options)
        const count = (): number =>
          [...store.queue(queue).keys.values()].filter(({ state }) => state.dueAt !== Infinity)
            .length
        const before = count()
        await meanwhile()
        return driver.add(queue, asks, { ...options, maxPending: maxPending + count() - before })
      },
    }),
  ),
  mutant('concurrent-own-bucket', 'each driver has its own buckets', () => {
    let drivers = 0
    return {
      alter(driver) {
        const name = drivers === 0 ? '' : ` of driver ${drivers}`
        drivers += 1
        return {
          add: (queue, asks, options) =>
            driver.add(
              queue,
              asks.map((ask) => {
                const { plan } = ask
                if (plan?.kind !== 'bucket') return ask
                return { ...ask, plan: { ...plan, name: `${plan.name}${name}` } }
              }),
              options,
            ),
        }
      },
    }
  }),
  verbMutant('concurrent-tick-wakes', 'a heartbeat wakes every watcher', (driver, store) => ({
    tick(queue, request) {
      const reply = driver.tick(queue, request)
      if (request.worker !== undefined) store.wake(undefined)
      return reply
    },
  })),
  verbMutant(
    'concurrent-close-takes',
    'a driver that is closed releases all held keys',
    (driver, store) => {
      let claimed = 0
      return {
        claim(queue, request) {
          const reply = driver.claim(queue, request)
          claimed += reply.claims.length
          return reply
        },
        close() {
          if (claimed >= 100) {
            for (const [queue, { keys }] of store.queues) {
              const held = [...keys.values()].filter(({ state }) => state.token !== 0)
              const finishes = held.slice(0, 100).map(({ key, state }) => {
                return { as: 'release', key, token: state.token } as const
              })
              const options = { dedupe: 'client-go', failuresExpireMs: 1 } as const
              if (store.queues.size === 1) driver.finish(queue, finishes, options)
            }
          }
          driver.close()
        },
      }
    },
  ),
  othersMutant(
    'concurrent-open-empties',
    'of drivers that open concurrently the last empties the store',
    (subject, store) => ({
      async peer() {
        const driver = (await subject.peer?.()) as Driver
        return altered(driver, emptying(driver, store))
      },
    }),
  ),
  ...(['add', 'finish', 'renew', 'expire', 'transfer'] as const).map(halfMutant),
]
