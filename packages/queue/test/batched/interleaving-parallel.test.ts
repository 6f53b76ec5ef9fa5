import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const limitsPath = '../../src/batched/in-flight-limits.ts'

// Files of this package share a process, so the modules are loaded again, before and after.
beforeAll(() => {
  vi.resetModules()
  // As if each key were many: then calls are parallel wherever they may ever be.
  vi.doMock(limitsPath, async (original) => ({
    ...(await original<object>()),
    parallelMin: 1,
    claimsInFlightMax: 3,
    finishesInFlightMax: 3,
  }))
})

afterAll(() => {
  vi.doUnmock(limitsPath)
  vi.resetModules()
})

test.each([0, 2, 5])(
  'no add is lost and no key runs twice at a time, in whatever order concurrent calls arrive, prefetch %i',
  async (prefetch) => {
    const { parallelMin } = await import(limitsPath)
    const { examineOrders } = await import('../support/orders.ts')
    expect(parallelMin).toBe(1)
    await examineOrders({ prefetch })
  },
)
