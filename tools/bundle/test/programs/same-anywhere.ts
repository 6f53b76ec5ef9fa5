import { nextTurn } from '@sluice/core'
import { createQueue, createRateLimitingQueue, createWorker, exponential } from 'sluice'
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
  seen.push(await longStep(), await leases(), await turns(), await realTime())
  return seen
}

/** Keys that fail for a minute, in one step: each run must begin when it is due, and not later. */
async function longStep(): Promise<readonly unknown[]> {
  const clock = fakeClock(0)
  const limiter = exponential({ baseMs: 1_000, maxMs: 60_000 })
  const queue = createRateLimitingQueue<string>({ clock, limiter })
  const begun: [string, number][] = []
  const worker = createWorker<string>({
    queue,
    concurrency: 2,
    onError: () => {},
    handler: async (item) => {
      begun.push([item, clock.now()])
      await new Promise<void>((resolve) => clock.startTimer(2_000, resolve))
      throw new Error('always')
    },
  })
  await queue.addMany(['a', 'b', 'c'])
  await clock.step(60_000)
  const stopped = worker.stop({ graceMs: 0 })
  await clock.step(5_000)
  await stopped
  await queue.close({ graceMs: 0 })
  return begun
}

/** What is loaded when it is needed: batches and leases, and the inspection. */
async function leases(): Promise<readonly unknown[]> {
  const clock = fakeClock(0)
  const queue = createQueue<string>({ clock, leaseMs: 30_000 })
  const added = ['a', 'b', 'a'].map((key) => queue.add(key))
  const seen: unknown[] = [await Promise.all(added)]
  const held = await queue.get()
  await clock.step(120_000)
  seen.push((await queue.inspect.get('a'))?.held?.leaseUntil, await held?.done(), held?.key)
  await queue.close()
  return seen
}

/** Turns come in the order in which they were asked for. */
async function turns(): Promise<number[]> {
  const came: number[] = []
  await new Promise<void>((resolve) => {
    for (let turn = 0; turn < 50; turn += 1) nextTurn(() => came.push(turn))
    nextTurn(() => nextTurn(resolve))
  })
  return came
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
