import { expect, test } from 'vitest'
import type { Store } from '../../src/connection/store.ts'
import { renew } from '../../src/verbs/renew.ts'

test.each([
  { leaseMs: 30_000, now: null, withinMs: 5_000 },
  { leaseMs: 1_200, now: null, withinMs: 1_000 },
  // With a clock that is given, a lease is no length of real time.
  { leaseMs: 30_000, now: 1_000_000, withinMs: Infinity },
])('a renewal leaves time for two more tries: $leaseMs', async ({ leaseMs, now, withinMs }) => {
  const options: unknown[] = []
  const store = {
    time: { moment: () => ({ now, least: null }) },
    async run(_name: string, _values: unknown, given: unknown) {
      options.push(given)
      return [{ index: 1, outcome: 0, lease_until: 7 }]
    },
  }
  const replies = await renew(store as unknown as Store, 'q', [{ key: 'a', token: 1 }], leaseMs)
  expect(replies).toEqual([{ outcome: 'renewed', leaseUntil: 7 }])
  expect(options).toEqual([{ withinMs }])
})
