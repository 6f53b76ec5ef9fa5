import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'
import { fill, openStore } from './store.ts'

/** How much memory of Redis a waiting key takes: 20 bytes, without an item. */
export async function printMemory(server: RedisProcess, count: number): Promise<void> {
  const store = await openStore(server)
  const used = async (): Promise<number> => Number(await server.info('used_memory'))
  await fill(store, 'other', 500, { prefix: 'key-560' })
  console.log(`\nmemory of Redis for each of ${count} keys of 20 bytes without an item\n`)
  for (const [name, delayMs] of [
    ['ready', 0],
    ['delayed', 86_400_000],
  ] as const) {
    const before = await used()
    await fill(store, name, count, { prefix: 'key-560', delayMs })
    console.log(`${name}: ${(((await used()) - before) / count).toFixed(0)} bytes`)
  }
  await store.close()
  await server.command('FLUSHALL')
}
