import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

const thousand = Array.from({ length: 1_000 }, (_, i) => `k${(i * 377) % 1_000}`)

/** Batches: answers are in the order of the arguments, and each key is handled separately. */
export const batchCases: readonly Case[] = [
  {
    id: 'batch.answers.in-order',
    title: 'the answers of a batch are in the order of its adds',
    async run(s) {
      await s.add('held')
      await s.claimOne('held')
      await s.add('waiting')
      await s.addAfter('delayed', 100)
      const replies = await s.addAll(['z-new', 'held', 'waiting', 'delayed', 'a-new'], {
        dedupe: 'earliest',
      })
      assert.deepEqual(
        replies.map(({ outcome }) => outcome),
        ['added', 'added', 'unchanged', 'moved', 'added'],
      )
    },
  },
  {
    id: 'batch.largest',
    title: 'a batch of a thousand keys is added, claimed and finished completely, in order',
    needs: { order: 'per-producer' },
    async run(s) {
      const replies = await s.addAll(thousand)
      assert.ok(replies.every(({ outcome }) => outcome === 'added'))
      const { claims } = await s.claim({ limit: 1_000 })
      assert.deepEqual(
        claims.map(({ key }) => key),
        thousand,
      )
      const done = await s.finishAll(
        claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
      )
      assert.ok(done.every(({ outcome }) => outcome === 'idle'))
      assert.deepEqual(await s.states(), {})
    },
  },
  {
    id: 'batch.claim.limit',
    title: 'a claim takes at most as many keys as its limit, and all of them if there are enough',
    async run(s) {
      await s.addAll(['a', 'b', 'c', 'd', 'e'])
      assert.equal((await s.claim({ limit: 2 })).claims.length, 2)
      assert.equal((await s.claim({ limit: 10 })).claims.length, 3)
      assert.equal((await s.claim({ limit: 10 })).claims.length, 0)
      await s.addAll(['f', 'g', 'h'].map((key) => s.ask(key)))
      await s.add('above', { priority: 1 })
      assert.equal((await s.claim({ limit: 3 })).claims.length, 3)
    },
  },
  {
    id: 'batch.claim.past-held',
    title: 'held, delayed and parked keys at the head do not hide the ready keys behind them',
    async run(s) {
      await s.addAll(Array.from({ length: 40 }, (_, i) => `front${i}`))
      const { claims } = await s.claim({ limit: 40 })
      for (const [index, claim] of claims.entries()) {
        if (index % 2 === 0) await s.add(claim.key)
        if (index % 4 === 1) await s.parkHeld(claim)
        if (index % 4 === 3) await s.retry(claim, 100_000)
      }
      await s.add('behind')
      assert.deepEqual(
        (await s.claim({ limit: 5 })).claims.map(({ key }) => key),
        ['behind'],
      )
    },
  },
  {
    id: 'batch.modes.own',
    title: 'adds of one batch with different delays each get their own delay',
    async run(s) {
      const delays = [0, 500, 1, 250.5, 0, 99]
      const replies = await s.addAll(delays.map((delayMs, i) => s.ask(`k${i}`, { delayMs })))
      assert.deepEqual(
        replies.map(({ dueAt }) => dueAt - s.now()),
        delays,
      )
    },
  },
  {
    id: 'batch.forget',
    title: 'a batch of forgets has an answer for each key',
    async run(s) {
      await s.add('failed', { failed: true })
      await s.add('fine')
      const outcomes = await s.driver.forget(s.queue, ['fine', 'failed', 'unknown'])
      assert.deepEqual(outcomes, ['unchanged', 'forgotten', 'unchanged'])
    },
  },
  {
    id: 'cancel.pending',
    title: 'cancel removes the pending runs, now or later, and reports whether there were any',
    async run(s) {
      await s.add('ready')
      await s.addAfter('ready', 100)
      await s.addAfter('delayed', 100)
      const outcomes = await s.driver.cancel(s.queue, ['delayed', 'unknown', 'ready'])
      assert.deepEqual(outcomes, ['cancelled', 'unchanged', 'cancelled'])
      assert.equal(await s.cancel('ready'), 'unchanged')
      await s.step(1_000)
      await s.claimNone()
      assert.deepEqual(await s.states(), {})
    },
  },
  {
    id: 'cancel.held',
    title: 'cancel of a held key removes its next run, and its holder continues',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.equal(await s.cancel('a'), 'unchanged')
      await s.add('a')
      assert.equal(await s.cancel('a'), 'cancelled')
      assert.equal(await s.state('a'), 'processing')
      assert.equal((await s.done(claim)).outcome, 'idle')
      await s.claimNone()
    },
  },
  {
    id: 'cancel.failures.kept',
    title: 'cancel does not reset failures',
    async run(s) {
      await s.addAfter('a', 100, { failed: true })
      await s.cancel('a')
      assert.equal(await s.state('a'), 'idle')
      assert.equal((await s.add('a')).failures, 1)
    },
  },
]
