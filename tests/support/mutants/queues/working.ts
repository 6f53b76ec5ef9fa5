import { mutant, type QueueMutant } from './mutant.ts'

/** Workers that treat the time between return and acknowledgement wrongly. */
export const workingMutants: readonly QueueMutant[] = [
  mutant('slot-until-acknowledged', 'a slot is taken until the finish is acknowledged', () => ({
    options: ({ prefetch: _, ...options }) => ({ ...options, prefetch: 0 }),
  })),
  mutant('prefetch-doubled', 'twice as many keys are claimed ahead', () => ({
    options: ({ prefetch, ...options }) => ({
      ...options,
      ...(prefetch === undefined
        ? {}
        : { prefetch: prefetch === 'auto' ? prefetch : prefetch * 2 || 1 }),
    }),
  })),
  mutant('retry-after-ignored', 'an error with retryAfterMs is retried as any other', () => ({
    workerOptions: ({ handler, ...options }) => ({
      ...options,
      async handler(item, context) {
        try {
          return await handler(item, context)
        } catch (error) {
          throw new Error('without retryAfterMs', { cause: error })
        }
      },
    }),
  })),
  mutant('stop-does-not-wait', 'stop does not wait for what is under way', () => ({
    worker: (worker) => ({
      async stop(options) {
        void worker.stop(options)
      },
    }),
  })),
  mutant('idle-too-early', 'runUntilIdle resolves when nothing runs', () => ({
    worker: (worker) => ({
      async runUntilIdle() {
        void worker.runUntilIdle()
      },
    }),
  })),
  mutant('given-up-in-silence', 'keys that a stop gives up are not named', () => ({
    options: (options) => ({
      ...options,
      onError(error) {
        if ((error as { code?: string }).code !== 'ERR_CLOSING') options.onError?.(error)
      },
    }),
  })),
  mutant(
    'finishes-acknowledged-at-once',
    'a finish counts as acknowledged when it is sent',
    () => ({
      driver: (driver) => ({
        finish(queue, finishes, options) {
          void driver.finish(queue, finishes, options)
          return finishes.map(() => ({ outcome: 'idle', dueAt: Infinity, failures: 0 }))
        },
      }),
    }),
  ),
]
