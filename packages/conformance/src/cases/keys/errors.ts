import assert from 'node:assert/strict'
import { errorBytesMax, failuresMax } from '@sluice/core'
import { transferRow } from '@sluice/core/driver'
import type { Case } from '../../case.ts'
import { transferVerbs } from '../../scene/transfer-verbs.ts'

/** The last error of a key, and counts at their limit. */
export const errorCases: readonly Case[] = [
  {
    id: 'error.empty',
    title: 'an empty error is an error: it is stored, and a park with it counts a failure',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0, { error: 'first' })
      await s.retry(await s.claimOne('a'), 0, { error: '' })
      assert.equal((await s.row('a')).lastError, '')
      await s.retry(await s.claimOne('a'), 0, { error: 'third' })
      const claim = await s.claimOne('a', { leaseMs: 100 })
      await s.step(100)
      await s.expire(claim, { error: '' })
      assert.equal((await s.row('a')).lastError, '')
      await s.retry(await s.claimOne('a'), 0, { error: 'fifth' })
      await s.parkHeld(await s.claimOne('a'), '')
      const row = await s.row('a')
      assert.deepEqual([row.lastError, row.failures], ['', 6])
    },
  },
  {
    id: 'error.empty.import',
    title: 'an empty error is imported',
    needs: { transfer: true },
    async run(s) {
      await s.add('a')
      const [row] = (await s.list()).rows.map(transferRow)
      assert.ok(row)
      await transferVerbs(s).importRows(s.queue, [{ ...row, key: 'b', lastError: '' }])
      assert.equal((await s.row('b')).lastError, '')
    },
  },
  {
    id: 'error.idle',
    title: 'a key keeps its error while it is idle, and when it is added again',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0, { error: 'why' })
      await s.done(await s.claimOne('a'))
      assert.equal((await s.row('a')).lastError, 'why')
      await s.add('a')
      assert.equal((await s.row('a')).lastError, 'why')
      // But not once it is gone; nor has another key its error.
      await s.done(await s.claimOne('a'), { forget: true })
      await s.addAll(['b', 'a'])
      const { rows } = await s.list()
      assert.deepEqual(
        rows.map(({ lastError }) => lastError),
        [undefined, undefined],
      )
    },
  },
  {
    id: 'error.lease-end',
    title:
      'each key whose lease is ended gets the error, completely; one whose lease is lost does not',
    async run(s) {
      const error = `${'é'.repeat((errorBytesMax - 3) / 2)}"}`
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 100 })
      await s.step(100)
      const leases = claims.map(({ key, token }) => ({
        key,
        token: token + (key === 'b' ? 1e6 : 0),
      }))
      await s.expireAll(leases, { error })
      const { rows } = await s.list()
      assert.deepEqual(
        rows.map(({ lastError }) => lastError),
        [error, undefined, error],
      )
    },
  },
  {
    id: 'failures.most',
    title: 'failures and crashes stay at the largest number that is counted',
    needs: { transfer: true },
    async run(s) {
      const keys = ['add', 'lease', 'park', 'retry']
      await s.addAll(keys)
      const rows = (await s.list()).rows.map(transferRow)
      const most = { failures: failuresMax, crashes: failuresMax, failedAt: s.now() }
      await transferVerbs(s).importRows(
        s.queue,
        rows.map((row) => ({ ...row, ...most })),
      )
      assert.equal((await s.add('add', { failed: true })).failures, failuresMax)
      for (const _ of keys) {
        const claim = await s.claimOne(undefined, { leaseMs: 100 })
        const { key } = claim
        assert.deepEqual([claim.failures, claim.crashes], [failuresMax, failuresMax])
        if (key === 'lease') {
          await s.step(100)
          await s.expire(claim, { maxCrashes: Infinity })
          const { failures, crashes } = await s.row(key)
          assert.deepEqual([failures, crashes], [failuresMax, failuresMax])
          await s.cancel(key)
        } else if (key === 'park') await s.parkHeld(claim, 'why')
        else assert.equal((await s.retry(claim, 1_000)).failures, failuresMax)
      }
      const { rows: after } = await s.list()
      assert.deepEqual(
        after.map(({ failures }) => failures),
        keys.map(() => failuresMax),
      )
    },
  },
]
