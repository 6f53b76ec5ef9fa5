import assert from 'node:assert/strict'
import { transferRow } from '@sluice/core/driver'
import type { Case } from '../../case.ts'
import { transferVerbs } from '../../scene/transfer-verbs.ts'

const thousand = Array.from({ length: 1_000 }, (_, i) => `k${(i * 377) % 1_000}`)

/** Freezes a value with everything in it, so that a change throws. */
function frozen<T extends object>(value: T): T {
  for (const each of Object.values(value) as unknown[]) {
    if (typeof each === 'object' && each !== null) frozen(each)
  }
  return Object.freeze(value)
}

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
  {
    id: 'batch.answers.leases',
    title: 'the answers to renewed and expired leases are in the order of the leases',
    async run(s) {
      await s.addAll(['c', 'a'])
      const { claims } = await s.claim({ limit: 2, leaseMs: 1_000 })
      const tokenOf = (key: string): number => claims.find((each) => each.key === key)?.token ?? 1
      const leases = ['b', 'c', 'a'].map((key) => ({ key, token: tokenOf(key) }))
      const renewed = await s.driver.renew(s.queue, leases, 1_000)
      assert.deepEqual(
        renewed.map(({ outcome }) => outcome),
        ['lost', 'renewed', 'renewed'],
      )
      await s.step(1_000)
      assert.deepEqual(await s.expireAll(leases), ['lost', 'expired', 'expired'])
    },
  },
  {
    id: 'batch.answers.operate',
    title: 'the answers to an operator are in the order of the keys',
    needs: { operate: true },
    async run(s) {
      await s.addAll(['c', 'a'])
      const { operate, queue } = s
      const three = ['c', 'a', 'b']
      const changed = ['changed', 'changed', 'missing']
      assert.deepEqual(await operate.park(queue, three), changed)
      assert.deepEqual(await operate.unpark(queue, three, { forget: false }), changed)
      await s.addAfter('0', 1_000)
      assert.deepEqual(await operate.runNow(queue, ['c', 'b', '0']), [
        'unchanged',
        'missing',
        'changed',
      ])
      assert.deepEqual(await operate.remove(queue, ['b', 'a', 'c']), [
        'missing',
        'changed',
        'changed',
      ])
    },
  },
  {
    id: 'batch.answers.transfer',
    title: 'the answers to moved keys are in the order of the rows',
    needs: { transfer: true },
    async run(s) {
      await s.addAll(['c', 'a'])
      const transfer = transferVerbs(s)
      const [first, last] = (await s.list()).rows.map(transferRow)
      assert.ok(first && last)
      const fresh = { ...last, key: 'b' }
      assert.deepEqual(await transfer.importRows(s.queue, [last, first, fresh]), [
        'unchanged',
        'unchanged',
        'imported',
      ])
      const unknown = { ...last, key: 'd' }
      assert.deepEqual(
        await transfer.dropRows(s.queue, [last, unknown, { ...first, crashes: 7 }]),
        ['dropped', 'missing', 'changed'],
      )
    },
  },
  {
    id: 'batch.arguments.kept',
    title: 'no verb changes its arguments',
    async run(s) {
      const { driver, queue } = s
      const options = frozen(s.options({ maxPending: 9 }))
      const plan = { kind: 'exponential', baseMs: 1, maxMs: 2 } as const
      const asks = ['c', 'a', 'b'].map((key) => s.ask(key, { plan, item: '1' }))
      await driver.add(queue, frozen(asks), options)
      await s.step(2)
      const { claims } = await s.claim({ limit: 3, leaseMs: 100 })
      const leases = frozen(claims.map(({ key, token }) => ({ key, token })).reverse())
      await driver.renew(queue, leases, 100)
      await s.step(100)
      await driver.expire(queue, leases, frozen({ dedupe: 'client-go', maxCrashes: 9 }))
      const finishes = leases.map((lease) => ({ as: 'retry', ...lease, delayMs: 0, plan }) as const)
      await driver.finish(queue, frozen(finishes), options)
      await driver.forget(queue, frozen(['c', 'a', 'b']))
      await driver.cancel(queue, frozen(['c', 'a', 'b']))
      await driver.list(queue, frozen({ limit: 3, keys: ['c', 'a', 'b'] }))
    },
  },
]
