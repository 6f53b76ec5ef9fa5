import { createRateLimitingQueue, createWorker, exponential, maxOf, tokenBucket } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { json, output } from './cli.ts'
import { driverOf } from './queues.ts'
import { storeKinds } from './stores.ts'

describe.each(storeKinds())('on $kind', ({ fresh }) => {
  test('a queue is shown with the tokens that its own buckets have now', async () => {
    const store = await fresh()
    const driver = await driverOf(store)
    const orders = createRateLimitingQueue<object>({
      name: 'orders',
      driver,
      limiter: maxOf(
        exponential({ baseMs: 1_000, maxMs: 3_600_000 }),
        // Full again after a hundredth of a millisecond.
        tokenBucket({ name: 'api', perSecond: 1_000_000, burst: 10 }),
      ),
    })
    // Its name is a part of a word in the plan of the other queue.
    const limiter = tokenBucket({ name: 'exp', perSecond: 0, burst: 1 })
    const mails = createRateLimitingQueue<string>({ name: 'mails', driver, limiter })
    onTestFinished(async () => {
      await orders.close()
      await mails.close()
    })
    await mails.addRateLimited('mail')
    await orders.add({ id: 7 })
    const failed = Promise.withResolvers<void>()
    const worker = createWorker({
      queue: orders,
      handler() {
        throw new Error('no "id" is known')
      },
      onError: () => failed.resolve(),
    })
    await failed.promise
    await worker.stop()

    // The worker is known by its heartbeat, and its failed run by the last one.
    await expect.poll(() => output(['describe', 'orders'], { store })).toMatch(/^ {2}failed {2}/m)
    const described = await output(['describe', 'orders'], { store })
    expect(described).toMatch(/^ {2}bucket {8}api: 10\.0 of 10, 1000000 per second$/m)
    expect(described).not.toMatch(/exp:/)
    expect(described).toMatch(
      /^ {2}limiter {7}the longest of: 1\.0 s doubled .*; bucket api of 10 /m,
    )
    expect(described).toMatch(/ago: json:\{"id":7\}: Error: no "id" is known$/m)
    const document = await json<{ buckets: object[] }>(['describe', 'orders'], { store })
    expect(document.buckets).toEqual([expect.objectContaining({ name: 'api', tokens: 10 })])

    const listed = await output(['limiters', '--no-headers'], { store })
    expect(listed).toMatch(/^api +1000000\/s +10 +10\.0 +now$/m)
    expect(listed).toMatch(/^exp +0\/s +1 +0\.0 +never$/m)
  })

  test('a queue that no worker was seen of is shown with its own bucket', async () => {
    const store = await fresh()
    const limiter = tokenBucket({ perSecond: 0, burst: 3 })
    const queue = createRateLimitingQueue<string>({
      name: 'orders',
      driver: await driverOf(store),
      limiter,
    })
    onTestFinished(() => queue.close())
    await queue.addRateLimited('order/42')

    const { buckets } = await json<{ buckets: object[] }>(['describe', 'orders'], { store })
    expect(buckets).toEqual([expect.objectContaining({ name: 'queue:orders', tokens: 2 })])
  })
})
