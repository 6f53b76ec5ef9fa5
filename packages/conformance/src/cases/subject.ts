import assert from 'node:assert/strict'
import { contractVersion } from '@sluice/core'
import type { Case } from '../case.ts'

/** The assumptions of all other cases about the subject. */
export const subjectCases: readonly Case[] = [
  {
    id: 'subject.isolated',
    title: 'two subjects do not see each other',
    async run(s) {
      const stranger = await s.otherStore()
      await s.add('a')
      await stranger.claimNone()
      assert.deepEqual((await stranger.list()).rows, [])
      await stranger.add('b')
      assert.deepEqual(await s.claimKeys(), ['a'])
    },
  },
  {
    id: 'subject.empty',
    title: 'a fresh store is empty',
    async run(s) {
      await s.claimNone()
      assert.deepEqual(await s.states(), {})
      assert.deepEqual((await s.list()).rows, [])
      assert.equal((await s.tick()).nextAt, Infinity)
    },
  },
  {
    id: 'subject.contract',
    title: 'the driver is written for this version of the contract, and has a name',
    async run({ driver }) {
      assert.equal(driver.contractVersion, contractVersion)
      assert.ok(driver.name.length > 0)
    },
  },
  {
    id: 'subject.capabilities',
    title: 'the driver has the verbs that it declares',
    async run({ driver }) {
      const able = driver.capabilities
      assert.equal(typeof driver.watch === 'function', able.watch, 'watch')
      assert.equal(driver.operate !== undefined, able.operate, 'operate')
      assert.equal(typeof driver.queues === 'function', able.queues, 'queues')
      assert.equal(typeof driver.workers === 'function', able.workers, 'workers')
      assert.equal(typeof driver.buckets === 'function', able.buckets, 'buckets')
      assert.equal(typeof driver.transact === 'function', able.transact !== false, 'transact')
      assert.ok(
        able.order === 'strict' || able.order === 'per-producer' || able.order === 'custom',
        'order',
      )
      assert.ok(able.tokens === 'store' || able.tokens === 'queue', 'tokens')
      assert.ok(able.time === 'monotonic' || able.time === 'wall', 'time')
    },
  },
  {
    id: 'subject.clock',
    title: 'the driver takes the time from the clock that it is given',
    async run(s) {
      const { now } = await s.claim()
      assert.equal(now, s.now())
      await s.step(12_345.5)
      assert.equal((await s.claim()).now, now + 12_345.5)
      assert.equal((await s.tick()).now, now + 12_345.5)
      assert.equal((await s.list()).now, now + 12_345.5)
    },
  },
]
