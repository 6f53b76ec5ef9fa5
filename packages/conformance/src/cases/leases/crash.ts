import assert from 'node:assert/strict'
import { transferRow } from '@sluice/core/driver'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'
import { transferVerbs } from '../../scene/transfer-verbs.ts'

/** Lets the lease of a key expire `times` times. */
async function crash(s: Scene, key: string, times = 1): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await s.add(key)
    const { claims } = await s.claim({ leaseMs: 1_000 })
    assert.equal(claims[0]?.key, key)
    await s.step(1_000)
    assert.deepEqual(await s.expireAll(claims), ['expired'])
  }
}

/** Holders that disappear, and the counting of crashes. */
export const crashCases: readonly Case[] = [
  {
    id: 'crash.counted-apart',
    title: 'crashes and failures are separate counters',
    async run(s) {
      await crash(s, 'a', 2)
      await s.release(await s.claimOne('a'))
      const crashed = await s.claimOne('a')
      assert.deepEqual([crashed.failures, crashed.crashes], [2, 2])
      await s.retry(crashed, 0)
      const claim = await s.claimOne('a')
      assert.deepEqual([claim.failures, claim.crashes], [3, 0])
    },
  },
  {
    id: 'crash.run-ended',
    title: 'a run that ends by done, retry or park resets crashes, and a release does not',
    async run(s) {
      await crash(s, 'done')
      await s.done(await s.claimOne('done'))
      assert.equal((await s.row('done')).crashes, 0)
      await crash(s, 'dirty')
      const dirty = await s.claimOne('dirty')
      await s.add('dirty')
      assert.equal((await s.done(dirty)).outcome, 'ready')
      assert.equal((await s.row('dirty')).crashes, 0)
      await s.cancel('dirty')
      await crash(s, 'again')
      const { token } = await s.claimOne('again')
      const again = { delayMs: 3_600_000, priority: 0 }
      await s.finish({ as: 'done', key: 'again', token, forget: false, again })
      assert.equal((await s.row('again')).crashes, 0)
      await crash(s, 'retried')
      await s.retry(await s.claimOne('retried'), 3_600_000)
      assert.equal((await s.row('retried')).crashes, 0)
      await crash(s, 'released')
      await s.release(await s.claimOne('released'))
      assert.equal((await s.row('released')).crashes, 1)
      await s.parkHeld(await s.claimOne('released'))
      assert.equal((await s.row('released')).crashes, 0)
    },
  },
  {
    id: 'crash.expire',
    title: 'the crashes of a key without a pending run expire together with its failures',
    async run(s) {
      const pending = s.on('pending')
      await crash(pending, 'a')
      await crash(s, 'a')
      await s.cancel('a')
      await s.step(86_399_999)
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.deepEqual([claim.failures, claim.crashes], [1, 1])
      await s.release(claim)
      await s.cancel('a')
      await s.step(1)
      await s.add('a')
      const { failures, crashes } = await s.claimOne('a')
      assert.deepEqual([failures, crashes], [0, 0])
      await s.step(86_400_000)
      await pending.add('a', { item: '1' })
      const kept = await pending.claimOne('a')
      assert.deepEqual([kept.failures, kept.crashes], [1, 1])
    },
  },
  {
    id: 'crash.rounds',
    title: 'crashes with a finished run between them do not add up to maxCrashes',
    async run(s) {
      for (let round = 0; round < 4; round += 1) {
        await s.add('a')
        const claim = await s.claimOne('a', { leaseMs: 1_000 })
        await s.step(1_000)
        assert.equal(await s.expire(claim, { maxCrashes: 2 }), 'expired')
        await s.done(await s.claimOne('a'))
      }
    },
  },
  {
    id: 'crash.forget',
    title: 'forget resets crashes',
    async run(s) {
      await crash(s, 'a')
      assert.equal(await s.forget('a'), 'forgotten')
      const claim = await s.claimOne('a')
      assert.equal(claim.crashes, 0)
      assert.equal(claim.failures, 0)
    },
  },
  {
    id: 'crash.imported-later',
    title: 'the end of a lease moves no run later that was imported meanwhile',
    needs: { transfer: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 10 })
      const other = s.on('other')
      await other.addAfter('a', 100)
      const row = transferRow(await other.row('a'))
      const laterAt = row.dueAt + 9
      await transferVerbs(s).importRows(s.queue, [{ ...row, laterAt }])
      await s.step(10)
      await s.expire(claim, { plan: { kind: 'exponential', baseMs: 999, maxMs: 999 } })
      assert.equal((await s.row('a')).laterAt, laterAt)
    },
  },
  {
    id: 'crash.parks',
    title: 'a key that has crashed maxCrashes times is parked',
    async run(s) {
      await s.add('a')
      for (let crashes = 1; crashes <= 3; crashes += 1) {
        const claim = await s.claimOne('a', { leaseMs: 1_000 })
        await s.step(1_000)
        assert.equal(await s.expire(claim, { maxCrashes: 3 }), crashes < 3 ? 'expired' : 'parked')
      }
      await s.claimNone()
      const row = await s.row('a')
      assert.equal(row.state, 'parked')
      assert.equal(row.crashes, 3)
      assert.ok(row.dueAt <= s.now(), 'the lost run is still pending')
    },
  },
  {
    id: 'crash.last-error',
    title: 'a key whose lease was ended has the error of that as its last one, if there is one',
    async run(s) {
      const error = 'the worker vanished'
      for (const [key, parts, lastError] of [
        ['told', { error }, error],
        ['not told', {}, 'why'],
      ] as const) {
        await s.add(key)
        await s.retry(await s.claimOne(key), 0, { error: 'why' })
        const claim = await s.claimOne(key, { leaseMs: 1_000 })
        await s.step(1_000)
        assert.equal(await s.expire(claim, parts), 'expired')
        assert.equal((await s.row(key)).lastError, lastError)
        await s.cancel(key)
      }
      await s.add('finished')
      const finished = await s.claimOne('finished', { leaseMs: 1_000 })
      await s.retry(finished, 0, { error: 'why' })
      await s.step(1_000)
      assert.equal(await s.expire(finished, { error }), 'lost')
      assert.equal((await s.row('finished')).lastError, 'why', 'a lost lease changes nothing')
    },
  },
  {
    id: 'crash.failures-do-not-park',
    title: 'failures do not count towards maxCrashes',
    async run(s) {
      await s.add('a')
      for (let i = 0; i < 5; i += 1) await s.retry(await s.claimOne('a'), 0)
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      assert.equal(await s.expire(claim, { maxCrashes: 3 }), 'expired')
    },
  },
  {
    id: 'crash.alone.whole',
    title: 'from its second crash on, a key is handed out alone when it comes first',
    needs: { order: 'per-producer' },
    async run(s) {
      await crash(s, 'poison', 2)
      await s.step(1)
      await s.addAll(['a', 'b'])
      assert.deepEqual(
        (await s.claim({ limit: 10 })).claims.map(({ key }) => key),
        ['poison'],
      )
      assert.deepEqual(
        (await s.claim({ limit: 10 })).claims.map(({ key }) => key),
        ['a', 'b'],
      )
    },
  },
  {
    id: 'crash.alone.ends-batch',
    title: 'from its second crash on, a key ends the batch of the keys before it',
    needs: { order: 'per-producer' },
    async run(s) {
      await crash(s, 'poison', 2)
      await s.addAll([s.ask('a', { priority: 1 }), s.ask('b', { priority: 1 }), s.ask('c')])
      const batches: string[][] = []
      for (;;) {
        const { claims } = await s.claim({ limit: 10 })
        if (claims.length === 0) break
        batches.push(claims.map(({ key }) => key))
      }
      assert.deepEqual(batches, [['a', 'b'], ['poison'], ['c']])
    },
  },
  {
    id: 'crash.alone.several',
    title: 'keys with one crash are handed out together, and keys with two one at a time',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      for (let crashes = 0; crashes < 2; crashes += 1) {
        const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
        assert.deepEqual(
          claims.map((claim) => claim.crashes),
          [crashes, crashes, crashes],
        )
        await s.step(1_000)
        await s.expireAll(claims)
      }
      for (let left = 3; left > 0; left -= 1) {
        assert.equal((await s.claim({ limit: 10 })).claims.length, 1)
      }
      await s.claimNone()
    },
  },
  {
    id: 'crash.alone.forgotten',
    title: 'a key whose crashes were reset is handed out together with others again',
    async run(s) {
      await crash(s, 'a', 2)
      await s.done(await s.claimOne('a'), { forget: true })
      await s.addAll(['a', 'b'])
      assert.equal((await s.claim({ limit: 10 })).claims.length, 2)
    },
  },
  {
    id: 'crash.others-unharmed',
    title: 'a key that crashes in every run does not keep the others from running',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAll(['poison', 'a', 'b', 'c'])
      const seen: string[] = []
      for (let i = 0; i < 10; i += 1) {
        const { claims } = await s.claim({ leaseMs: 1_000 })
        for (const claim of claims) {
          if (claim.key === 'poison') continue
          seen.push(claim.key)
          await s.done(claim)
        }
        await s.step(1_000)
        const { leaseEnds } = await s.tick()
        if (leaseEnds.length > 0) await s.expireAll(leaseEnds)
      }
      assert.deepEqual(seen, ['a', 'b', 'c'])
    },
  },
  {
    id: 'crash.renew.kept',
    title: 'a renewal does not reset crashes',
    async run(s) {
      await s.add('a')
      const first = await s.claimOne('a', { leaseMs: 100 })
      await s.step(100)
      await s.expire(first)
      await s.renew(await s.claimOne('a'))
      assert.equal((await s.row('a')).crashes, 1)
    },
  },
]
