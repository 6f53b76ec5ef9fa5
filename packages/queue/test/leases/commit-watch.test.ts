import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { batchKeysMax, type Lease, type RenewReply } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import type { DriverCalls } from '../../src/driver/driver-calls.ts'
import type { HeldKey } from '../../src/held/held-key.ts'
import { type CommitOwner, CommitWatch } from '../../src/leases/commit-watch.ts'
import { fakeRealTime } from '../support/real-time.ts'

/** A watch over transactions, on a store that answers with `outcomes` by token, and with a failure otherwise. */
function watching() {
  const time = fakeRealTime()
  const outcomes = new Map<number, 'lost' | 'renewed'>()
  const asked: number[][] = []
  const committed: number[] = []
  const owner = {
    phase: 'open' as CommitOwner['phase'],
    committed: ({ token }: HeldKey<unknown>) => void committed.push(token),
  }
  const calls = {
    options: { leaseMs: 30_000 },
    attempt: async (call: () => unknown) => await call(),
    async renew(leases: readonly Lease[]): Promise<readonly Partial<RenewReply>[]> {
      asked.push(leases.map(({ token }) => token))
      return leases.map(({ token }) => ({ outcome: outcomes.get(token)! }))
    },
  }
  const watch = new CommitWatch(calls as unknown as DriverCalls, owner)
  const add = (token: number) => {
    const held = { key: `k${token}`, token, phase: 'held', isLost: false, mayBeGivenBack: false }
    watch.add(held as unknown as HeldKey<unknown>)
    return held
  }
  return { time, outcomes, asked, committed, owner, add }
}

describe('whether a transaction has committed is asked no more', () => {
  test('once its queue is closed', async () => {
    const { time, asked, owner, add } = watching()
    add(1)
    await time.pass(100)
    expect(asked.length).toBeGreaterThan(1)
    owner.phase = 'closed'
    const { length } = asked
    await time.pass(2_000)
    expect([asked.length, time.timers()]).toEqual([length, 0])
  })

  test.for([{ isLost: true }, { phase: 'finished' }])('once its key is %o', async (change) => {
    const { time, asked, add } = watching()
    const held = add(1)
    add(2)
    await time.pass(100)
    Object.assign(held, change)
    asked.length = 0
    await time.pass(2_000)
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.flat()).not.toContain(1)
  })

  test('once it has, or was rolled back', async () => {
    const { time, asked, committed, outcomes, add } = watching()
    const held = add(1)
    add(2)
    outcomes.set(1, 'renewed').set(2, 'lost')
    await time.pass(100)
    expect([committed, held.mayBeGivenBack, asked, time.timers()]).toEqual([
      [2],
      false,
      [[1, 2]],
      0,
    ])
  })
})

test('of very many transactions, one call asks about a batch of keys', async () => {
  const { time, asked, outcomes, committed, add } = watching()
  for (let token = 1; token <= batchKeysMax + 1; token += 1) {
    outcomes.set(token, 'lost')
    add(token)
  }
  await time.pass(100)
  expect(asked.map(({ length }) => length)).toEqual([batchKeysMax, 1])
  expect(committed).toHaveLength(batchKeysMax + 1)
})

test('a key that its user has dropped after the commit is seen to have committed, and not reported', async () => {
  const { time, asked, outcomes, committed, add } = watching()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = new WeakRef(add(1))
  await time.pass(100)
  collect()
  // Otherwise the set of held keys would report it.
  expect(held.deref()).toBeDefined()
  outcomes.set(1, 'lost')
  asked.length = 0
  await time.pass(2_000)
  expect(committed).toEqual([1])
  collect()
  await time.pass(50)
  collect()
  expect([asked.length, held.deref()]).toEqual([1, undefined])
})
