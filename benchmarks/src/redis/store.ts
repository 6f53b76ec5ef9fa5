import type { Ask, Driver } from '../../../packages/core/src/index.ts'
import { redisDriver } from '../../../packages/redis/src/index.ts'
import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'

export const askOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

/** The driver on a server, opened. */
export async function openStore({ url }: RedisProcess): Promise<Driver> {
  const driver = redisDriver({ url })
  await driver.open({})
  return driver
}

/** Adds keys that are due after a delay. */
export async function fill(
  store: Driver,
  queue: string,
  count: number,
  more: Partial<Ask> & { readonly prefix: string },
): Promise<void> {
  const { prefix, ...ask } = more
  for (let at = 0; at < count; at += 500) {
    const size = Math.min(500, count - at)
    const asks = Array.from({ length: size }, (_, n) => ({
      key: `${prefix}-${String(at + n).padStart(12, '0')}`,
      item: undefined,
      priority: 0,
      delayMs: 0,
      ...ask,
    }))
    await store.add(queue, asks, askOptions)
  }
}
