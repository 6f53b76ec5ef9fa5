import { createRateLimitingQueue, createWorker, exponential } from 'sluice'
import { fakeClock } from 'sluice/testing'

/** Uses a queue, a worker and a stepped clock, and says what it saw: the same in every runtime. */
export async function sameAnywhere(): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  const clock = fakeClock()
  const queue = createRateLimitingQueue<string>({
    name: 'orders',
    clock,
    limiter: exponential({ baseMs: 1_000, maxMs: 60_000 }),
  })
  seen.push(await queue.add('order/ä€😀'), await queue.add('order/ä€😀'))
  seen.push(await queue.addAfter('order/2', 5_000))
  const held = await queue.get()
  seen.push(held?.key, await queue.add('order/ä€😀'), await held?.done())

  let runs = 0
  const worker = createWorker<string>({
    queue,
    concurrency: 2,
    onError: () => {},
    handler: (item, { failures }) => {
      runs += 1
      seen.push([item, failures])
      if (item === 'order/2' && failures < 2) throw new Error('the first two runs fail')
    },
  })
  await clock.step(5_000)
  seen.push((await queue.inspect.explain('order/2')).state)
  await clock.step(10_000)
  seen.push(runs, await queue.len())
  await worker.stop()
  try {
    await queue.add(`${'x'.repeat(511)}ä`)
  } catch (error) {
    seen.push(String(error))
  }
  await queue.close()
  seen.push(await realTime())
  return seen
}

/** A worker on the clock of the machine. */
async function realTime(): Promise<string[]> {
  const queue = createRateLimitingQueue<string>({ name: 'now' })
  const ran: string[] = []
  await queue.addMany(['a', 'b', 'a'])
  const worker = createWorker<string>({ queue, handler: (item) => void ran.push(item) })
  await worker.runUntilIdle()
  await queue.close()
  return ran
}
