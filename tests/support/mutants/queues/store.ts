import { SluiceError } from '@sluice/core'
import { mutant, type QueueMutant, whole } from './mutant.ts'

/** Leases, wakes, flushing and trouble, one thing wrong in each. */
export const storeMutants: readonly QueueMutant[] = [
  mutant('renew-nothing', 'renewals are answered and not made', () => ({
    driver: () => ({
      renew: (_, leases, leaseMs) =>
        leases.map(() => ({ outcome: 'renewed' as const, leaseUntil: leaseMs + 1e15 })),
    }),
  })),
  mutant('renew-singly', 'every lease is renewed in a call of its own', () => ({
    driver: (driver) => ({
      async renew(queue, leases, leaseMs) {
        const replies = []
        for (const lease of leases) {
          replies.push(...(await driver.renew(queue, [lease], leaseMs)))
        }
        return replies
      },
    }),
  })),
  mutant('signal-silent', 'signals are never aborted', () => ({
    held: () => ({ signal: new AbortController().signal }),
  })),
  mutant('signal-unexplained', 'signals do not say why', () => ({
    held(held) {
      const abort = new AbortController()
      held.signal.addEventListener('abort', () => abort.abort(new Error('aborted')))
      return { signal: abort.signal }
    },
  })),
  mutant('signal-hasty', 'a renewal that fails once aborts everything', () => {
    const abort = new AbortController()
    return {
      driver: (driver) => ({
        async renew(...args) {
          try {
            return await driver.renew(...args)
          } catch (error) {
            abort.abort(error)
            throw error
          }
        },
      }),
      held: (held) => ({ signal: AbortSignal.any([held.signal, abort.signal]) }),
    }
  }),
  mutant('done-unfenced', 'done ends whatever run there is', () => ({
    held: (held, { driver, name = '' }) => ({
      async done(options) {
        const outcome = await held.done(options)
        if (outcome !== 'lost') return outcome
        const { rows } = await driver.list(name, { keys: [held.key], limit: 1 })
        const token = rows[0]?.token ?? 0
        const finish = { as: 'done', key: held.key, token, forget: false } as const
        const [reply] = await driver.finish(name, [finish], whole)
        return reply?.outcome ?? 'lost'
      },
    }),
  })),
  mutant('expire-nothing', 'the ends of leases are overlooked', () => ({
    driver: () => ({ expire: (_, leases) => leases.map(() => 'lost' as const) }),
  })),
  mutant('max-crashes-dropped', 'there is no maxCrashes', () => ({
    options: ({ maxCrashes: _, ...options }) => options,
  })),
  mutant('waits-by-polling', 'who waits looks every ten seconds, and hears nothing', () => ({
    queue: (queue, { clock }) => ({
      async get(options) {
        for (;;) {
          if ((await queue.len()) > 0 || queue.shuttingDown) return await queue.get(options)
          if (options !== undefined) return await queue.get(options)
          await new Promise<void>((resolve) => clock.startTimer(10_000, resolve))
        }
      },
    }),
  })),
  mutant('watch-deaf', 'nobody hears what other processes do', () => ({
    driver: (driver) => ({
      watch: undefined as never,
      capabilities: { ...driver.capabilities, watch: false },
    }),
  })),
  mutant('vanished-without-a-word', 'the end of a lease stores no error', () => ({
    driver: (driver) => ({
      expire: (queue, leases, { error: _, ...options }) => driver.expire(queue, leases, options),
    }),
  })),
  mutant('looks-only-when-woken', 'without a wake nobody looks', () => ({
    driver: (driver) => ({
      tick: async (queue, request) => ({
        ...(await driver.tick(queue, request)),
        nextAt: Infinity,
      }),
      claim: async (queue, request) => {
        const { ready } = await driver.counts(queue, { cap: 1 })
        if (ready > 0 && woken.has(driver)) return await driver.claim(queue, request)
        const { now } = await driver.list(queue, { limit: 1 })
        return { claims: [], leaseEnds: [], now }
      },
      add(...args) {
        woken.add(driver)
        return driver.add(...args)
      },
      watch: (onWake) =>
        driver.watch?.((name) => {
          woken.add(driver)
          onWake(name)
        }) as () => void,
    }),
  })),
  mutant('looks-all-the-time', 'who waits looks every second', () => ({
    queue: (queue, { clock, driver, name = '' }) => ({
      async get(options) {
        const ticker = clock.startTicker(1_000, () => void driver.counts(name, { cap: 1 }))
        try {
          return await queue.get(options)
        } finally {
          ticker.stop()
        }
      },
    }),
  })),
  mutant('add-twice', 'every add is sent twice', () => ({
    driver: (driver) => ({
      async add(...args) {
        const replies = await driver.add(...args)
        if (args[1].length === 1) await driver.add(...args)
        return replies
      },
    }),
  })),
  mutant('add-singly', 'every add is sent alone', () => ({
    driver: (driver) => ({
      async add(queue, asks, options) {
        const replies = []
        for (const ask of asks) replies.push(...(await driver.add(queue, [ask], options)))
        return replies
      },
    }),
  })),
  mutant('soon-never', 'addSoon adds nothing', () => ({ queue: () => ({ addSoon() {} }) })),
  mutant('refusals-final', 'a store that is busy once is given up', () => ({
    driver: (driver) => ({
      add: async (...args) => {
        try {
          return await driver.add(...args)
        } catch (cause) {
          throw new SluiceError('ERR_STORE', 'given up', { cause })
        }
      },
    }),
  })),
  mutant('claims-ahead', 'more is claimed than getters wait for', () => ({
    queue(queue) {
      const ahead: Awaited<ReturnType<typeof queue.getMany>> = []
      return {
        async get(options) {
          if (ahead.length === 0) ahead.push(...(await queue.getMany(10, options)))
          return ahead.shift()
        },
      }
    },
  })),
  mutant('get-impatient', 'get rejects when the store is busy', () => ({
    queue: (queue, { driver, name = '' }) => ({
      async get(options) {
        await driver.tick(name, { holder: 'x', limit: 1, failuresExpireMs: Infinity })
        return await queue.get(options)
      },
    }),
  })),
  mutant('add-refused-silently', 'an add that was refused says that it added', () => ({
    driver: (driver) => ({
      add: async (queue, asks, options) => {
        try {
          return await driver.add(queue, asks, options)
        } catch {
          return asks.map(() => ({ outcome: 'added' as const, dueAt: 0, failures: 0 }))
        }
      },
    }),
  })),
  mutant('finish-once', 'a finish whose answer is lost is lost', () => ({
    driver: (driver) => ({
      finish: async (queue, finishes, options) => {
        try {
          return await driver.finish(queue, finishes, options)
        } catch {
          return finishes.map(() => ({ outcome: 'lost' as const, dueAt: 0, failures: 0 }))
        }
      },
    }),
  })),
  mutant('retry-counts-again', 'a retry whose answer is lost counts its failure again', () => ({
    driver: (driver) => ({
      finish: async (queue, finishes, options) => {
        try {
          return await driver.finish(queue, finishes, options)
        } catch (error) {
          const asks = finishes.map(({ key }) => {
            return { key, item: undefined, priority: 0, delayMs: 0, failed: true }
          })
          await Promise.allSettled([driver.add(queue, asks, options)])
          throw error
        }
      },
    }),
  })),
  mutant('within-nothing', 'what is done in a transaction is dropped', () => ({
    queue: () => ({
      within: () => ({ add: () => 'added', addAfter: () => 'added', done: () => 'idle' }),
    }),
  })),
  mutant('within-at-once', 'what is done in a transaction is done outside of it', () => ({
    queue: (queue) => ({
      within: () => ({
        add(item) {
          queue.addSoon(item)
          return 'added'
        },
        addAfter: () => 'added',
        done: () => 'idle',
      }),
    }),
  })),
]

const woken = new WeakSet<object>()
