import { expect, test, vi } from 'vitest'
import * as limits from '../src/batched/in-flight-limits.ts'
import { examineOrders } from './orders.ts'

// As if each key were many: then calls are parallel wherever they may ever be.
vi.mock('../src/batched/in-flight-limits.ts', () => ({
  parallelMin: 1,
  claimsInFlightMax: 3,
  finishesInFlightMax: 3,
}))

test.each([0, 2, 5])(
  'S1 S2 S7 S9 L4 whatever the order in which calls beside each other arrive, prefetch %i',
  async (prefetch) => {
    expect(limits.parallelMin).toBe(1)
    await examineOrders({ prefetch })
  },
)
