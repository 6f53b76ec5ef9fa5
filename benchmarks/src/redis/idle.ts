import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { redisDriver } from '../../../packages/redis/src/index.ts'
import type { RedisProcess } from '../../../tools/test-redis/src/index.ts'

const queueCount = 500

async function passes(ms: number): Promise<void> {
  // real time: what is counted is what an idle process does in a length of time.
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/** What 500 idle queues with a worker each have the server do. */
export async function printIdle(server: RedisProcess, ms: number): Promise<void> {
  const driver = redisDriver({ url: server.url })
  const queues = Array.from({ length: queueCount }, (_, n) =>
    createQueue<string>({ name: `idle ${n}`, driver }),
  )
  const workers = queues.map((queue) => createWorker({ queue, handler: async () => {} }))
  await passes(12_000)
  const state = async (): Promise<{ cpuMs: number; commands: number; reads: number }> => ({
    cpuMs: await server.cpuMs(),
    commands: Number(await server.info('total_commands_processed')),
    reads: Number(await server.info('total_reads_processed')),
  })
  const floor = async (): Promise<number> => {
    const before = await server.cpuMs()
    await passes(10_000)
    return (await server.cpuMs()) - before
  }
  const before = await state()
  const clientBefore = process.cpuUsage()
  await passes(ms)
  const { user, system } = process.cpuUsage(clientBefore)
  const after = await state()
  await Promise.all(workers.map((worker) => worker.stop()))
  await Promise.all(queues.map((queue) => queue.close()))
  const idleMs = await floor()
  const per = (figure: number, length: number): string => ((figure * length) / ms).toFixed(1)
  console.log(`\n${queueCount} idle queues with a worker each, in one process, ${ms / 1_000} s\n`)
  console.log(`server: ${per(after.cpuMs - before.cpuMs, 10_000)} ms of CPU in 10 s`)
  console.log(`server without any client: ${idleMs.toFixed(1)} ms of CPU in 10 s`)
  console.log(`client: ${per((user + system) / 1_000, 10_000)} ms of CPU in 10 s`)
  // Those that read the figures themselves are among them.
  console.log(`${per(after.reads - before.reads, 60_000)} reads from sockets a minute`)
  console.log(
    `${per(after.commands - before.commands, 60_000)} commands a minute, those of scripts too`,
  )
}
