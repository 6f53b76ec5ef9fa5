import { SluiceError } from '@sluice/core'
import type { Breakage } from './broken-queues.ts'
import { mutant, type QueueMutant } from './mutant.ts'

/** Items, delays and limiters, one thing wrong in each. */
export const valueMutants: readonly QueueMutant[] = [
  mutant('item-null-is-none', 'null comes back as undefined', () => ({
    held: (held) => ({ item: held.item ?? undefined }),
  })),
  mutant('key-uncanonical', 'the key of an object depends on the order of its members', () => ({
    options: (options) => ({
      keyOf: (item) => (typeof item === 'string' ? item : `json:${JSON.stringify(item)}`),
      ...options,
    }),
  })),
  mutant('key-of-text', 'what looks alike has one key', () => ({
    options: (options) => ({
      keyOf: (item) => (typeof item === 'string' ? item : JSON.stringify(item)),
      ...options,
    }),
  })),
  mutant('item-first-stays', 'the first item of a waiting key stays', () => ({
    queue: (queue, { driver, name = '', keyOf }) => ({
      async add(item, options) {
        const key = keyOf?.(item)
        const found = key && (await driver.list(name, { keys: [key], limit: 1 })).rows[0]
        return found && found.state === 'ready' ? 'unchanged' : await queue.add(item, options)
      },
    }),
  })),
  mutant('item-shared', 'the one who adds and the one who takes share a value', () => {
    const items = new Map<string, unknown>()
    return {
      queue: (queue) => ({
        add(item, options) {
          if (typeof item === 'object' && item !== null && 'list' in item) items.set('a', item)
          return queue.add(item, options)
        },
      }),
      held: (held) => ({ item: items.get(held.key) ?? held.item }),
    }
  }),
  mutant('input-let-through', 'what is refused is passed over', () => ({
    queue: (queue) => ({
      add: (item, options) => queue.add(item, options).catch(passOver('unchanged')),
    }),
  })),
  mutant('item-long-cut', 'what is too long is cut', () => ({
    queue: (queue) => ({
      add: (item, options) =>
        queue.add(typeof item === 'string' ? item.slice(0, 65_534) : item, options),
    }),
  })),
  mutant('delay-nan-is-none', 'a delay that is no number is none', () => ({
    queue: (queue) => ({
      addAfter: (item, ms, options) => queue.addAfter(item, Number.isFinite(ms) ? ms : 0, options),
    }),
  })),
  mutant('delay-late', 'a delay is a millisecond longer', () => ({
    queue: (queue) => ({
      addAfter: (item, ms, options) => queue.addAfter(item, ms > 0 ? ms + 1 : ms, options),
    }),
  })),
  mutant('delay-at-least', 'a delay is a millisecond at least', () => ({
    queue: (queue) => ({
      addAfter: (item, ms, options) => queue.addAfter(item, ms > 0 || !(ms < 1) ? ms : 1, options),
    }),
  })),
  mutant('delay-a-day', 'a delay is a day at most', () => ({
    queue: (queue) => ({
      addAfter: (item, ms, options) =>
        queue.addAfter(item, ms > 86_400_000 && ms < 1e9 ? 86_400_000 : ms, options),
    }),
  })),
  mutant('delay-options-dropped', "nothing is known of 'latest'", () => ({
    queue: (queue) => ({ addAfter: (item, ms) => queue.addAfter(item, ms) }),
  })),
  mutant(
    'delay-of-held-dropped',
    'a delay that is asked for while a key is held is dropped',
    () => ({
      queue: (queue, { driver, name = '' }) => ({
        async addAfter(item, ms, options) {
          const key = typeof item === 'string' ? item : ''
          const { rows } = await driver.list(name, { keys: [key], limit: 1 })
          const isHeld = rows[0]?.state === 'processing' && !queue.shuttingDown
          return isHeld ? 'added' : await queue.addAfter(item, ms, options)
        },
      }),
    }),
  ),
  mutant('mode-client-go', "'earliest' is not known", () => ({
    options: (options) => ({ ...options, dedupe: 'client-go' }),
  })),
  mutant('mode-earliest', "'client-go' is not known", () => ({
    options: (options) => ({ ...options, dedupe: 'earliest' }),
  })),
  mutant('limiter-dropped', 'limiters are dropped', () => ({
    options: ({ limiter: _, ...options }) => options,
  })),
  mutant('limiter-caught', 'a limiter that fails delays nothing', () => ({
    options: ({ limiter, ...options }) => ({
      ...options,
      ...(limiter && { limiter: harmless(limiter) }),
    }),
  })),
  mutant('forget-nothing', 'forget forgets nothing', () => ({
    queue: () => ({ forget: async () => 'unchanged' }),
  })),
  mutant('requeues-none', 'no failures are told', () => ({
    queue: () => ({ numRequeues: async () => 0 }),
  })),
  mutant('rate-limited-is-delayed', 'addRateLimited counts no failure', () => ({
    queue: (queue) => ({ addRateLimited: (item) => queue.addAfter(item, 5) }),
  })),
]

function passOver(answer: string): (error: unknown) => string {
  return (error) => {
    if (SluiceError.is(error, 'ERR_INVALID_INPUT')) return answer
    throw error
  }
}

type Limiter = NonNullable<Parameters<NonNullable<Breakage['options']>>[0]['limiter']>

function harmless(limiter: Limiter): Limiter {
  return {
    ...limiter,
    when(item) {
      try {
        return limiter.when(item) || 0
      } catch {
        return 0
      }
    },
  }
}
