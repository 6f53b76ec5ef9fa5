import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { redisDriver } from '../../../packages/redis/src/index.ts'
import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'

/** The longest script of a queue with default settings: large batches, and large items. */
export async function printScripts(server: RedisProcess): Promise<void> {
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 0)
  await server.command('CONFIG', 'SET', 'slowlog-max-len', 100_000)
  console.log(
    '\nthe longest script with default settings, 4,000 keys added, worked on and purged\n',
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
    let left = items.length
    await new Promise<void>((resolve) => {
      const worker = createWorker({
        queue,
        concurrency: 1_000,
        handler: async () => {
          left -= 1
          if (left === 0) void worker.stop().then(() => resolve())
        },
      })
    })
    await queue.close()
    const log = (await server.command('SLOWLOG', 'GET', 100_000)) as [
      number,
      number,
      number,
      string[],
    ][]
    const scripts = log.filter(([, , , [command = '']]) => command.startsWith('EVAL'))
    const [longest] = scripts.sort(([, , one], [, , other]) => other - one)
    const [, , us = 0, command = []] = longest ?? []
    console.log(
      `${name}: ${(us / 1_000).toFixed(1)} ms of ${scripts.length} scripts (${command.length} arguments)`,
    )
    await server.command('FLUSHALL')
  }
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 10_000)
}
