import type { Driver, ImportOutcome } from '@sluice/core'
import type { OtherProcess, Subject } from '../../../src/case.ts'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import { ModelStore } from '../../../src/model/model-store.ts'
import { altered, modelSubject } from '../../../src/model/model-subject.ts'
import { type Mutant, mutant, verbMutant } from '../mutant.ts'

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

/** A subject with a correct first driver, and with faults in other drivers or other processes. */
function othersMutant(
  id: string,
  title: string,
  make: (subject: Subject, store: ModelStore) => Partial<Subject>,
): Mutant {
  return {
    id,
    title,
    create() {
      const store = new ModelStore()
      const subject = modelSubject({ store })
      return { ...subject, ...make(subject, store) }
    },
  }
}

/** Another process of the subject, with some members and its end replaced. */
function otherWith(
  subject: Subject,
  members: (driver: Driver) => Partial<Driver>,
  kill: () => void = () => {},
): Pick<Subject, 'otherProcess'> {
  return {
    async otherProcess() {
      const other = await subject.otherProcess?.()
      const { driver } = other as OtherProcess
      return { driver: altered(driver, members(driver)), kill }
    },
  }
}

/** Finds a store empty on opening, and empties it again later. */
function emptying(driver: Driver, store: ModelStore): Partial<Driver> {
  let mustEmpty = false
  return {
    async open(options) {
      mustEmpty = store.queues.size === 0
      await driver.open(options)
    },
    counts(queue, options) {
      if (mustEmpty) store.queue(queue).keys.clear()
      mustEmpty = false
      return driver.counts(queue, options)
    },
  }
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

/** Correct in one process; one fault each with several processes, or after a power cut. */
export const processMutants: readonly Mutant[] = [
  othersMutant('process-apart', 'another process has its own store', () => ({
    otherProcess: () => ({ driver: modelSubject().driver, kill() {} }),
  })),
  othersMutant(
    'process-claims-twice',
    'another process hands out keys that are held',
    (subject, store) =>
      otherWith(subject, (driver) => ({
        claim(queue, request) {
          const held = [...store.queue(queue).keys.values()].find(({ state }) => state.token !== 0)
          if (held !== undefined && request.limit > 50) {
            Object.assign(held.state, { token: 0, dueAt: 0 })
          }
          return driver.claim(queue, request)
        },
      })),
  ),
  othersMutant(
    'process-token-blocks',
    'another process draws tokens from its own block',
    (subject, store) =>
      otherWith(subject, (driver) => ({
        async claim(queue, request) {
          const reply = await driver.claim(queue, request)
          const claims = reply.claims.map((claim) => {
            const { state } = store.key(queue, claim.key)
            state.token += 1_000_000
            return { ...claim, token: state.token }
          })
          return { ...reply, claims }
        },
      })),
  ),
  othersMutant(
    'process-busy-done',
    'a write that meets another reports busy, and took effect',
    (subject) =>
      otherWith(subject, (driver) => {
        let adds = 0
        return {
          add(queue, asks, options) {
            adds += 1
            const replies = driver.add(queue, asks, options)
            if (adds % 10 !== 9) return replies
            return asks.map(() => ({ outcome: 'unchanged', dueAt: 0, failures: 0 }) as const)
          },
        }
      }),
  ),
  othersMutant(
    'process-wake-lost',
    'another process wakes only the first queue of a turn',
    (subject, store) => {
      const watch = store.wake.bind(store)
      let hasWoken = false
      return otherWith(subject, (driver) => ({
        add(queue, asks, options) {
          store.wake = hasWoken ? () => {} : watch
          hasWoken = true
          setImmediate(() => {
            hasWoken = false
          })
          const replies = driver.add(queue, asks, options)
          store.wake = watch
          return replies
        },
      }))
    },
  ),
  othersMutant(
    'process-idle-wakes',
    'a heartbeat of another process wakes every watcher',
    (subject, store) =>
      otherWith(subject, (driver) => ({
        tick(queue, request) {
          if (request.worker !== undefined) store.wake(undefined)
          return driver.tick(queue, request)
        },
      })),
  ),
  othersMutant('process-workers-own', 'another process lists its own workers only', (subject) =>
    otherWith(subject, (driver) => ({
      async workers(queue, withinMs) {
        const workers = (await driver.workers?.(queue, withinMs)) ?? []
        return workers.filter(({ holder }) => holder === 'there')
      },
    })),
  ),
  othersMutant(
    'process-kill-loses',
    'the last writes of a process are lost when it is killed',
    (subject, store) => {
      let last: (() => unknown) | undefined
      return otherWith(
        subject,
        (driver) => ({
          async finish(queue, finishes, options) {
            const before = store.snapshot()
            last = () => Object.assign(store, before)
            return await driver.finish(queue, finishes, options)
          },
        }),
        () => last?.(),
      )
    },
  ),
  othersMutant(
    'process-kill-halves',
    'half of the last batch is stored when a process is killed',
    (subject, store) => {
      let last: (() => void) | undefined
      return otherWith(
        subject,
        (driver) => ({
          add(queue, asks, options) {
            last = () => {
              for (const { key } of asks.slice(asks.length / 2)) store.queue(queue).keys.delete(key)
            }
            return driver.add(queue, asks, options)
          },
        }),
        () => last?.(),
      )
    },
  ),
  othersMutant(
    'process-kill-claims',
    'half of the last claim is held when a process is killed',
    (subject, store) => {
      let last: (() => void) | undefined
      return otherWith(
        subject,
        (driver) => ({
          async claim(queue, request) {
            const reply = await driver.claim(queue, request)
            const { claims } = reply
            last = () => {
              for (const { key } of claims.slice(claims.length / 2)) {
                store.key(queue, key).state.token = 0
              }
            }
            return reply
          },
        }),
        () => last?.(),
      )
    },
  ),
  othersMutant(
    'process-open-empties',
    'a process that opens an empty store empties it again',
    (subject, store) => otherWith(subject, (driver) => emptying(driver, store)),
  ),
  ...(['add', 'finish', 'renew', 'expire', 'cancel', 'forget'] as const).map((verb) =>
    othersMutant(
      `power-${verb}`,
      `the last ${verb} is not there after a power cut`,
      (subject, store) => {
        let before: ReturnType<ModelStore['snapshot']> | undefined
        const watched = (driver: Driver): Driver =>
          altered(driver, {
            [verb](...args: unknown[]) {
              before = store.snapshot()
              return Reflect.apply(driver[verb], driver, args)
            },
            list(queue, request) {
              return driver.list(queue, request)
            },
          })
        return {
          driver: watched(subject.driver),
          async cutPower() {
            if (before !== undefined) Object.assign(store, before)
            before = undefined
            return watched((await subject.cutPower?.()) as Driver)
          },
        }
      },
    ),
  ),
  othersMutant(
    'power-tokens',
    'tokens from before a power cut are given out again',
    (subject, store) => ({
      async cutPower() {
        const next = store.nextToken.bind(store)
        store.nextToken = () => next() - 2_000
        return (await subject.cutPower?.()) as Driver
      },
    }),
  ),
  othersMutant('power-pause', 'a pause ends with a power cut', (subject, store) => ({
    async cutPower() {
      for (const queue of store.queues.values()) queue.paused = false
      return (await subject.cutPower?.()) as Driver
    },
  })),
  othersMutant(
    'power-middle',
    'half of a large batch is stored after a power cut',
    (subject, store) => ({
      async cutPower() {
        for (const { keys } of store.queues.values()) {
          if (keys.size !== 1_000) continue
          for (const key of [...keys.keys()].slice(500)) keys.delete(key)
        }
        return (await subject.cutPower?.()) as Driver
      },
    }),
  ),
]
