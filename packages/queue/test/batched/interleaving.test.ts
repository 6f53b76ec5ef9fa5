import { fakeClock } from '@sluice/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueue, memoryDriver } from '../../src/index.ts'
import { examineOrders, scheduled } from '../support/orders.ts'

test.each([0, 2])(
  'no add is lost and no key runs twice at a time, in whatever order calls and answers arrive, prefetch %i',
  (prefetch) => examineOrders({ prefetch }),
)

test('an aborted get never keeps a key that was claimed for it', async () => {
  let given = 0
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.nat({ max: 16 }), async (scheduler, turns) => {
      const inner = memoryDriver()
      const driver = scheduled(scheduler, inner)
      const queue = createQueue<string>({ name: 'q', driver, clock: fakeClock(), leaseMs: 30_000 })
      const giveUp = new AbortController()
      const getting = queue.get({ signal: giveUp.signal }).then(
        (held) => held,
        () => undefined,
      )
      const adding = queue.add('a')
      for (let turn = 0; turn < turns; turn += 1) {
        // Calls that the last answer caused come first.
        for (let step = 0; step < 20; step += 1) await Promise.resolve()
        if (scheduler.count() > 0) await scheduler.waitOne()
      }
      giveUp.abort()
      await scheduler.waitFor(adding)
      const held = await scheduler.waitFor(getting)
      if (held === undefined) {
        const other = await scheduler.waitFor(queue.get())
        expect(other?.key).toBe('a')
        await scheduler.waitFor(other!.done())
      } else {
        given += 1
        await scheduler.waitFor(held.done())
      }
      await scheduler.waitFor(queue.close())
    }),
    { numRuns: 300 },
  )
  expect(given).toBeGreaterThan(0)
})
