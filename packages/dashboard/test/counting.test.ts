import { createQueue, memoryDriver } from 'sluice'
import { expect, test } from 'vitest'
import type { ExactCounts, QueueView } from '../src/wire.ts'
import { Site } from './site.ts'

test('every key of a queue is counted on demand, once for all who ask meanwhile', async () => {
  const driver = memoryDriver()
  const caps: number[] = []
  const counts = driver.counts.bind(driver)
  Object.assign(driver, {
    counts(...[queue, options]: Parameters<typeof counts>) {
      caps.push(options.cap)
      return counts(queue, options)
    },
  })
  const site = new Site({ driver })
  const queue = createQueue<string>({ name: 'orders', driver, clock: site.clock })
  for (let from = 0; from < 12_000; from += 1_000) {
    await queue.addMany(Array.from({ length: 1_000 }, (_, index) => `key/${from + index}`))
  }
  const { body: view } = await site.ask<QueueView>('/api/queue?queue=orders')
  expect(view.counts).toMatchObject({ ready: 10_000, capped: true })
  caps.length = 0
  const [one, other] = await Promise.all([
    site.ask<ExactCounts>('/api/counts?queue=orders'),
    site.ask<ExactCounts>('/api/counts?queue=orders'),
  ])
  expect(one.body).toMatchObject({ counts: { ready: 12_000, capped: false }, at: site.clock.now() })
  expect(other.body).toEqual(one.body)
  expect(caps).toHaveLength(1)
  await queue.add('one more')
  const again = await site.ask<ExactCounts>('/api/counts?queue=orders')
  expect(again.body.counts.ready).toBe(12_001)
  expect((await site.ask('/api/counts')).status).toBe(400)
  await queue.close()
  await site.close()
})
