import { SluiceError } from '@sluice/core'
import { mutant, type QueueMutant } from './mutant.ts'

/** Ends and loops, one thing wrong in each. */
export const endMutants: readonly QueueMutant[] = [
  mutant('shut-down-quietly', 'adds after shutDown are dropped silently', () => ({
    queue: (queue) => ({
      add: (item, options) => queue.add(item, options).catch(passOverShut('unchanged')),
    }),
  })),
  mutant('shut-down-not', 'shutDown does nothing', () => ({
    queue: () => ({ shutDown: async () => {}, shuttingDown: true }),
  })),
  mutant('shut-down-empty', 'after shutDown get gives nothing', () => ({
    queue: (queue) => ({
      get: async (options) => (queue.shuttingDown ? undefined : await queue.get(options)),
    }),
  })),
  mutant('shut-down-strict', 'after shutDown nothing can be given back for later', () => ({
    queue: (queue) => ({
      async addAfter(...args) {
        if (queue.shuttingDown) throw new SluiceError('ERR_SHUT_DOWN', 'shut down')
        return await queue.addAfter(...args)
      },
    }),
  })),
  mutant('shut-down-everybody', 'shutDown shuts down every queue of the name', () => {
    const queues: { shutDown(): Promise<void> }[] = []
    return {
      queue(queue) {
        queues.push(queue)
        return {
          async shutDown() {
            await Promise.all(queues.map((each) => each.shutDown()))
          },
        }
      },
    }
  }),
  mutant('drain-at-once', 'a drain waits for nothing', () => ({
    queue: (queue) => ({ shutDownWithDrain: () => queue.shutDown() }),
  })),
  mutant('drain-for-ever', 'a drain is not released by shutDown', () => ({
    queue(queue) {
      let isDraining = false
      return {
        async shutDownWithDrain(options) {
          isDraining = true
          await queue.shutDownWithDrain(options)
        },
        shutDown: async () => {
          if (!isDraining) await queue.shutDown()
        },
      }
    },
  })),
  mutant('drain-stubborn', 'a drain cannot be abandoned', () => ({
    queue: (queue) => ({ shutDownWithDrain: () => queue.shutDownWithDrain() }),
  })),
  mutant('close-not', 'close does nothing', () => ({ queue: () => ({ close: async () => {} }) })),
  mutant('close-once', 'close can be called once', () => ({
    queue(queue) {
      let isClosed = false
      return {
        async close(options) {
          if (isClosed) throw new SluiceError('ERR_CLOSED', 'closed')
          isClosed = true
          await queue.close(options)
        },
      }
    },
  })),
  mutant('close-needs-use', 'a queue that was not used cannot be closed', () => ({
    queue(queue) {
      let isUsed = false
      const using = <A extends unknown[], R>(call: (...args: A) => R) => {
        return (...args: A): R => {
          isUsed = true
          return call(...args)
        }
      }
      return {
        add: using(queue.add.bind(queue)),
        addMany: using(queue.addMany.bind(queue)),
        addAfter: using((...args: Parameters<typeof queue.addAfter>) => queue.addAfter(...args)),
        get: using(queue.get.bind(queue)),
        len: using(queue.len.bind(queue)),
        async close(options) {
          if (!isUsed) throw new SluiceError('ERR_CLOSED', 'never opened')
          await queue.close(options)
        },
      }
    },
  })),
  mutant('close-closes-all', 'close closes the driver under the other queues', () => ({
    queue: (queue, { driver }) => ({
      async close(options) {
        await queue.close(options)
        await driver.close()
      },
    }),
  })),
  mutant('close-for-good', 'a driver whose last queue was closed is of no use', () => ({
    driver(driver) {
      let isClosed = false
      return {
        async open(options) {
          if (isClosed) throw new SluiceError('ERR_CLOSED', 'closed for good')
          await driver.open(options)
        },
        async close() {
          isClosed = true
          await driver.close()
        },
      }
    },
  })),
  mutant('close-strands-waiters', 'who waits when a queue is closed waits on', () => ({
    queue: (queue) => ({
      async get(options) {
        const held = await queue.get(options)
        if (held !== undefined || queue.shuttingDown) return held
        return await new Promise(() => {})
      },
    }),
  })),
  mutant('loop-short', 'a loop ends after two', () => ({
    queue: (queue) => ({
      async *[Symbol.asyncIterator]() {
        for (let i = 0; i < 2; i += 1) {
          const held = await queue.get()
          if (held === undefined) return
          yield held
        }
      },
    }),
  })),
  mutant('loop-finishes', 'the next turn of a loop finishes the one before', () => ({
    queue: (queue) => ({
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const held = await queue.get()
          if (held === undefined) return
          yield held
          await held.done()
        }
      },
    }),
  })),
  mutant('loop-keeps', 'leaving a loop releases nothing', () => ({
    queue: (queue) => ({
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const held = await queue.get()
          if (held === undefined) return
          yield held
        }
      },
    }),
  })),
  mutant('loop-detach-ignored', 'what is detached is released all the same', () => ({
    held: (held) => ({ detach: () => held }),
  })),
  mutant('loop-shuts-down', 'leaving a loop shuts the queue down', () => ({
    queue: (queue) => ({
      async *[Symbol.asyncIterator]() {
        try {
          yield* queue
        } finally {
          await queue.shutDown()
        }
      },
    }),
  })),
  mutant('scope-is-done', 'what goes out of scope is done', () => ({
    held: (held) => ({
      async [Symbol.asyncDispose]() {
        await held.done()
      },
    }),
  })),
  mutant('scope-releases', 'what goes out of scope is released, always', () => ({
    held: (held) => ({
      async [Symbol.asyncDispose]() {
        await held.release()
      },
    }),
  })),
  mutant('scope-retries', 'what goes out of scope has failed, always', () => ({
    held: (held) => ({
      async [Symbol.asyncDispose]() {
        await held.retry()
      },
    }),
  })),
  mutant('worker-idle', 'a worker does not run its handler', () => ({
    workerOptions: (options) => ({ ...options, handler: () => undefined }),
  })),
  mutant('worker-content', 'a worker does not notice that a handler has failed', () => ({
    workerOptions: ({ handler, ...options }) => ({
      ...options,
      handler: async (item, context) => {
        try {
          await handler(item, context)
        } catch {
          // Nobody is told.
        }
      },
    }),
  })),
  mutant('worker-serial', 'a worker does one thing at a time', () => ({
    workerOptions: ({ concurrency: _, ...options }) => options,
  })),
  mutant('worker-tireless', 'a worker knows no maxFailures', () => ({
    workerOptions: ({ maxFailures: _, ...options }) => options,
  })),
  mutant('worker-leaves', 'a worker that is stopped waits for nobody', () => ({
    worker: (worker) => ({
      stop: async () => {
        worker.stop({ graceMs: 0 }).catch(() => {})
      },
    }),
  })),
]

function passOverShut(answer: string): (error: unknown) => string {
  return (error) => {
    if (SluiceError.is(error, 'ERR_SHUT_DOWN')) return answer
    throw error
  }
}
