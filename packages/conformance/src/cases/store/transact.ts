import assert from 'node:assert/strict'
import { type DriverTransaction, SluiceError } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'

const needs = { transact: true } as const

/** Runs `act` in a transaction that ends as `end` says. */
async function within(
  s: Scene,
  end: 'commit' | 'rollback',
  act: (transaction: DriverTransaction) => Promise<void>,
): Promise<void> {
  const { handle, commit, rollback } = await s.begin()
  try {
    const transaction = s.driver.transact?.(handle)
    assert.ok(transaction, 'a driver that declares transact has it')
    await act(transaction)
  } catch (error) {
    await rollback()
    throw error
  }
  await (end === 'commit' ? commit() : rollback())
}

/** Adds, and repeats that while the store is busy and has done nothing. */
async function addPatiently(s: Scene, key: string): Promise<void> {
  for (;;) {
    try {
      await s.add(key)
      return
    } catch (error) {
      if (!(SluiceError.is(error) && error.retryable)) throw error
      // The blocking transaction needs a turn of the event loop to end.
      await s.clock.step(0)
    }
  }
}

/** Verbs inside a caller's transaction. */
export const transactCases: readonly Case[] = [
  {
    id: 'transact.add.commit',
    title: 'keys that are added in a transaction are stored once it is committed',
    needs,
    async run(s) {
      await within(s, 'commit', async (transaction) => {
        const asks = [s.ask('a', { item: '1' }), s.ask('b', { delayMs: 100 })]
        const replies = await transaction.add(s.queue, asks, s.options())
        assert.deepEqual(
          replies.map(({ outcome }) => outcome),
          ['added', 'added'],
        )
      })
      assert.equal((await s.claimOne('a')).item, '1')
      await s.claimNone()
      await s.step(100)
      await s.claimOne('b')
    },
  },
  {
    id: 'transact.add.rollback',
    title: 'keys that are added in a transaction that is rolled back were never added',
    needs,
    async run(s) {
      await s.addAfter('kept', 100)
      await within(s, 'rollback', async (transaction) => {
        await transaction.add(s.queue, [s.ask('a'), s.ask('kept', { item: '1' })], s.options())
      })
      assert.deepEqual(await s.states(), { delayed: 1 })
      assert.equal((await s.row('kept')).item, undefined)
      await s.claimNone()
    },
  },
  {
    id: 'transact.add.mode',
    title: 'in a transaction, runs of one key merge as they do outside of one',
    needs,
    async run(s) {
      await s.addAfter('a', 100)
      await within(s, 'commit', async (transaction) => {
        const [reply] = await transaction.add(s.queue, [s.ask('a')], s.options())
        assert.equal(reply?.outcome, 'added')
      })
      await s.done(await s.claimOne('a'))
      await s.step(100)
      await s.claimOne('a')
    },
  },
  {
    id: 'transact.finish.commit',
    title: 'a key that is done in a transaction is free once it is committed',
    needs,
    async run(s) {
      await s.addAll(['done', 'retry'])
      const { claims } = await s.claim({ limit: 2 })
      await within(s, 'commit', async (transaction) => {
        const finishes = claims.map(({ key, token }) =>
          key === 'done'
            ? ({ as: 'done', key, token, forget: true } as const)
            : ({ as: 'retry', key, token, delayMs: 100, error: 'why' } as const),
        )
        await transaction.finish(s.queue, finishes, s.options())
      })
      assert.deepEqual(await s.states(), { backoff: 1 })
      assert.equal((await s.row('retry')).lastError, 'why')
    },
  },
  {
    id: 'transact.finish.rollback',
    title: 'a key that is done in a transaction that is rolled back is held as before',
    needs,
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await within(s, 'rollback', async (transaction) => {
        const { key, token } = claim
        await transaction.finish(s.queue, [{ as: 'retry', key, token, delayMs: 0 }], s.options())
      })
      await s.claimNone()
      assert.equal((await s.row('a')).failures, 0)
      assert.equal((await s.renew(claim)).outcome, 'renewed')
      assert.equal((await s.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'transact.finish.lost',
    title: 'in a transaction a lost lease is thrown, so that the transaction fails with it',
    needs,
    async run(s) {
      await s.add('a')
      const stale = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      await s.expire(stale)
      const current = await s.claimOne('a')
      const attempt = within(s, 'commit', async (transaction) => {
        await transaction.add(s.queue, [s.ask('side effect')], s.options())
        const { key, token } = stale
        await transaction.finish(s.queue, [{ as: 'done', key, token, forget: true }], s.options())
      })
      await assert.rejects(attempt, (error) => SluiceError.is(error, 'ERR_LEASE_LOST'))
      assert.equal(await s.state('side effect'), 'gone')
      assert.equal((await s.done(current)).outcome, 'idle')
    },
  },
  {
    id: 'transact.rollback.keeps-others',
    title: 'an add that waits for a transaction is not lost when that transaction is rolled back',
    needs: { transact: true, peers: true },
    async run(s) {
      const other = await s.peer()
      let meeting: Promise<void> | undefined
      await within(s, 'rollback', async (transaction) => {
        await transaction.add(s.queue, [s.ask('a')], s.options())
        meeting = addPatiently(other, 'a')
        // The add may wait for the end of this transaction, or be rejected while it lasts.
        await s.clock.step(0)
      })
      await meeting
      await s.claimOne('a')
    },
  },
]
