import { mutant, type QueueMutant, whole } from './mutant.ts'

/** Taking and finishing, one thing wrong in each. */
export const takingMutants: readonly QueueMutant[] = [
  mutant('add-always-added', 'every add says that it added', () => ({
    queue: (queue) => ({
      add: async (item, options) => {
        const outcome = await queue.add(item, options)
        return outcome === 'unchanged' ? 'added' : outcome
      },
    }),
  })),
  mutant('done-cancels', 'done takes back what was asked for meanwhile', () => ({
    driver: (driver) => ({
      async finish(queue, finishes, options) {
        for (const { as, key } of finishes) if (as === 'done') await driver.cancel(queue, [key])
        return await driver.finish(queue, finishes, options)
      },
    }),
  })),
  mutant('add-many-reversed', 'addMany adds backwards', () => ({
    queue: (queue) => ({
      addMany: async (items, options) =>
        (await queue.addMany([...items].reverse(), options)).reverse(),
    }),
  })),
  mutant('priority-dropped', 'priorities are dropped', () => ({
    queue: (queue) => ({ add: (item) => queue.add(item) }),
  })),
  mutant('cancel-late', 'a cancel takes its time', () => ({
    queue: (queue) => ({
      async cancel(item) {
        await Promise.resolve()
        await queue.len()
        return await queue.cancel(item)
      },
    }),
  })),
  mutant('cancel-nothing', 'cancel does nothing', () => ({
    queue: () => ({ cancel: async () => 'unchanged' }),
  })),
  mutant('get-many-one', 'getMany takes one', () => ({
    queue: (queue) => ({ getMany: (_, options) => queue.getMany(1, options) }),
  })),
  mutant('get-shared', 'two who wait get the same', () => ({
    queue(queue) {
      let waiting: ReturnType<typeof queue.get> | undefined
      return {
        async get(options) {
          if (options !== undefined) return await queue.get(options)
          waiting ??= queue.get().finally(() => {
            waiting = undefined
          })
          return await waiting
        },
      }
    },
  })),
  mutant('get-stubborn', 'a get cannot be abandoned', () => ({
    queue: (queue) => ({ get: () => queue.get() }),
  })),
  mutant('done-by-item-lost', 'done of an item is always lost', () => ({
    queue: (queue) => ({
      done: async (it) => (typeof it === 'string' ? 'lost' : await queue.done(it)),
    }),
  })),
  mutant('done-by-item-anybody', 'done of an item ends the run of any holder', () => ({
    queue: (queue, { driver, name = '' }) => ({
      async done(it) {
        if (typeof it !== 'string') return await queue.done(it)
        const { rows } = await driver.list(name, { keys: [it], limit: 1 })
        const token = rows[0]?.token ?? 0
        const finish = { as: 'done', key: it, token, forget: false } as const
        const [reply] = await driver.finish(name, [finish], whole)
        return reply?.outcome ?? 'lost'
      },
    }),
  })),
  mutant('done-repeatable', 'done says every time what it said first', () => ({
    held(held) {
      let first: Promise<string> | undefined
      return {
        done(options) {
          first ??= held.done(options)
          return first
        },
      }
    },
  })),
  mutant('release-is-retry', 'a release counts as a failure', () => ({
    held: (held) => ({ release: () => held.retry() }),
  })),
  mutant('park-is-release', 'what is parked comes back', () => ({
    held: (held) => ({ park: () => held.release() }),
  })),
  mutant('len-counts-all', 'len counts what is delayed, too', () => ({
    queue: (queue, { driver, name = '' }) => ({
      async len() {
        const ready = await queue.len()
        const { delayed } = await driver.counts(name, { cap: 1_000 })
        return ready + delayed
      },
    }),
  })),
  mutant('len-counts-held', 'len counts what is held, too', () => ({
    queue: (queue, { driver, name = '' }) => ({
      async len() {
        const ready = await queue.len()
        const { processing } = await driver.counts(name, { cap: 1_000 })
        return ready + processing
      },
    }),
  })),
  mutant('max-pending-dropped', 'there is no maxPending', () => ({
    options: ({ maxPending: _, ...options }) => options,
  })),
  mutant('one-name', 'queues of every name are one', () => ({
    options: (options) => ({ ...options, name: 'q' }),
  })),
  mutant('own-names', 'two objects of one name are two queues', () => {
    let made = 0
    return {
      options(options) {
        made += 1
        return made === 1 ? options : { ...options, name: `${options.name} ${made}` }
      },
    }
  }),
  mutant('token-constant', 'every holder has the same token', () => ({
    held: () => ({ token: 1 }),
  })),
]
