import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { moveQueues } from '../../../packages/queue/src/transfer/index.ts'
import { redisDriver } from '../../../packages/redis/src/index.ts'
import { scripts } from '../../../packages/redis/src/scripts.ts'
import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'

const names = new Map(Object.entries(scripts).map(([name, { sha }]) => [sha, name]))

/** The longest script of a queue with default settings: large batches, and large items. */
export async function printScripts(server: RedisProcess): Promise<void> {
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 0)
  await server.command('CONFIG', 'SET', 'slowlog-max-len', 100_000)
  console.log(
    '\nthe longest script with default settings: 4,000 keys added, moved to another store, worked on, and 4,000 purged\n',
  )
  for (const [name, bytes] of [
    ['keys alone', 0],
    ['items of 1 kB', 1_000],
    ['items of 64 kB', 64_000],
  ] as const) {
    await server.command('SLOWLOG', 'RESET')
    const queue = createQueue<{ id: string; text: string }>({
      name: 'long',
      keyOf: ({ id }) => id,
      driver: redisDriver({ url: server.url }),
    })
    const text = 'x'.repeat(bytes)
    const items = Array.from({ length: bytes > 10_000 ? 400 : 4_000 }, (_, n) => ({
      id: `key ${n}`,
      text,
    }))
    for (let at = 0; at < items.length; at += 1_000)
      await queue.addMany(items.slice(at, at + 1_000))
    // The keys move to another prefix, and from there they are worked on.
    const moved = redisDriver({ url: server.url, prefix: 'moved:' })
    await moveQueues({ from: redisDriver({ url: server.url }), to: moved })
    const there = createQueue<{ id: string; text: string }>({
      name: 'long',
      keyOf: ({ id }) => id,
      driver: moved,
    })
    let left = items.length
    await new Promise<void>((resolve) => {
      const worker = createWorker({
        queue: there,
        concurrency: 1_000,
        handler: async () => {
          left -= 1
          if (left === 0) void worker.stop().then(() => resolve())
        },
      })
    })
    for (let at = 0; at < items.length; at += 1_000)
      await there.addMany(items.slice(at, at + 1_000))
    await there.inspect.purge()
    await there.close()
    await queue.close()
    const log = (await server.command('SLOWLOG', 'GET', 100_000)) as [
      number,
      number,
      number,
      string[],
    ][]
    const sent = log.filter(([, , , [command = '']]) => command.startsWith('EVAL'))
    const longest = new Map<string, number>()
    for (const [, , us, [, sha = '']] of sent) {
      const script = names.get(sha) ?? 'one with its text'
      longest.set(script, Math.max(us, longest.get(script) ?? 0))
    }
    const inOrder = [...longest].sort(([, one], [, other]) => other - one)
    const figures = inOrder.map(([script, us]) => `${script} ${(us / 1_000).toFixed(1)}`)
    console.log(`${name}: of ${sent.length} scripts, ms of the longest: ${figures.join(', ')}`)
    await server.command('FLUSHALL')
  }
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 10_000)
}
