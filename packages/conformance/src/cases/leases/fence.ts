import assert from 'node:assert/strict'
import type { Claim } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'

/** A key whose first holder has lost it to a second one. */
async function takenOver(s: Scene): Promise<{ stale: Claim; current: Claim }> {
  await s.add('a')
  const stale = await s.claimOne('a', { leaseMs: 1_000 })
  await s.step(1_000)
  await s.expire(stale)
  const current = await s.as('another').claimOne('a', { leaseMs: 10_000 })
  return { stale, current }
}

/** Makes a call of a stale holder, and asserts that it has no effect. */
async function isVain(
  s: Scene,
  attempt: (stale: Claim) => Promise<{ readonly outcome: string } | string>,
): Promise<void> {
  const { stale, current } = await takenOver(s)
  const before = await s.row('a')
  const answer = await attempt(stale)
  assert.equal(typeof answer === 'string' ? answer : answer.outcome, 'lost')
  assert.deepEqual(await s.row('a'), before, 'nothing was changed')
  await s.claimNone()
  assert.equal((await s.done(current)).outcome, 'idle')
}

/** Tokens rise, and an old one is never accepted. */
export const fenceCases: readonly Case[] = [
  {
    id: 'fence.rises.key',
    title:
      'every claim of a key has a greater token than the one before, even if the row was deleted in between',
    async run(s) {
      let last = 0
      for (let i = 0; i < 5; i += 1) {
        await s.add('a')
        const claim = await s.claimOne('a')
        assert.ok(Number.isSafeInteger(claim.token) && claim.token > last)
        last = claim.token
        await s.done(claim)
        assert.equal(await s.state('a'), 'gone')
      }
    },
  },
  {
    id: 'fence.rises.store',
    title: 'tokens rise over all keys and queues of a store',
    needs: { tokens: 'store' },
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      await s.on('other').addAll(['a', 'b', 'c'])
      const tokens: number[] = []
      for (let i = 0; i < 3; i += 1) {
        for (const queue of [s, s.on('other')]) tokens.push((await queue.claimOne()).token)
      }
      assert.deepEqual(
        tokens,
        [...new Set(tokens)].sort((a, b) => a - b),
      )
    },
  },
  {
    id: 'fence.rises.queue',
    title: 'tokens rise over all keys of a queue',
    async run(s) {
      const tokens: number[] = []
      for (const key of ['b', 'a', 'c', 'a']) {
        await s.add(key)
        const claim = await s.claimOne(key)
        tokens.push(claim.token)
        await s.done(claim)
      }
      assert.deepEqual(
        tokens,
        [...new Set(tokens)].sort((a, b) => a - b),
      )
    },
  },
  {
    id: 'fence.rises.batch',
    title: 'tokens rise along a batch of claims',
    async run(s) {
      await s.addAll(['c', 'a', 'b'])
      const tokens = (await s.claim({ limit: 3 })).claims.map(({ token }) => token)
      assert.deepEqual(
        tokens,
        [...new Set(tokens)].sort((a, b) => a - b),
      )
    },
  },
  {
    id: 'fence.stale.done',
    title: 'done by a holder that lost the key changes nothing',
    run: (s) => isVain(s, (stale) => s.done(stale, { forget: true })),
  },
  {
    id: 'fence.stale.retry',
    title: 'retry by a holder that lost the key changes nothing, and counts nothing',
    run: (s) => isVain(s, (stale) => s.retry(stale, 0, { error: 'stale' })),
  },
  {
    id: 'fence.stale.release',
    title: 'release by a holder that lost the key changes nothing',
    run: (s) => isVain(s, (stale) => s.release(stale)),
  },
  {
    id: 'fence.stale.park',
    title: 'park by a holder that lost the key changes nothing',
    run: (s) => isVain(s, (stale) => s.parkHeld(stale, 'stale')),
  },
  {
    id: 'fence.stale.renew',
    title: 'renew by a holder that lost the key changes nothing',
    run: (s) => isVain(s, (stale) => s.renew(stale, 1_000_000)),
  },
  {
    id: 'fence.stale.expire',
    title: 'the end of a lease that was replaced changes nothing',
    run: (s) => isVain(s, (stale) => s.expire(stale)),
  },
  {
    id: 'fence.done.twice',
    title: 'done is accepted once; a second done with the same token is lost',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      assert.equal((await s.done(claim)).outcome, 'ready')
      assert.equal((await s.done(claim)).outcome, 'lost')
      assert.equal((await s.row('a')).state, 'ready')
      await s.claimOne('a')
    },
  },
  {
    id: 'fence.done.after-release',
    title: 'a token is no longer accepted after a release',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.release(claim)
      assert.equal((await s.done(claim)).outcome, 'lost')
      assert.equal((await s.renew(claim)).outcome, 'lost')
      await s.claimOne('a')
    },
  },
  {
    id: 'fence.forged',
    title: 'a token that was never given out is never accepted',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      for (const token of [0, claim.token - 1, claim.token + 1, Number.MAX_SAFE_INTEGER]) {
        assert.equal((await s.done({ key: 'a', token })).outcome, 'lost')
        assert.equal((await s.renew({ key: 'a', token })).outcome, 'lost')
      }
      assert.equal((await s.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'fence.forged.not-held',
    title: 'no token is accepted for a key that is not held',
    async run(s) {
      await s.add('a')
      for (const token of [0, 1]) {
        assert.equal((await s.done({ key: 'a', token })).outcome, 'lost')
        assert.equal((await s.retry({ key: 'a', token }, 0)).outcome, 'lost')
        assert.equal((await s.renew({ key: 'a', token })).outcome, 'lost')
        assert.equal(await s.expire({ key: 'a', token }), 'lost')
      }
      const row = await s.row('a')
      assert.equal(row.state, 'ready')
      assert.equal(row.failures, 0)
    },
  },
  {
    id: 'fence.other-key',
    title: 'the token of one key is not accepted for another key',
    async run(s) {
      await s.addAll(['a', 'b'])
      const [a, b] = (await s.claim({ limit: 2 })).claims
      assert.ok(a && b)
      assert.equal((await s.done({ key: a.key, token: b.token })).outcome, 'lost')
      assert.deepEqual(await s.states(), { processing: 2 })
    },
  },
  {
    id: 'fence.other-queue',
    title: 'the token of a key is not accepted for a key of the same name in another queue',
    async run(s) {
      await s.add('a')
      await s.on('other').add('a')
      const claim = await s.claimOne('a')
      const theirs = await s.on('other').claimOne('a')
      assert.equal((await s.on('other').done(claim)).outcome, 'lost')
      assert.equal((await s.done(theirs)).outcome, 'lost')
      assert.equal((await s.done(claim)).outcome, 'idle')
      assert.equal((await s.on('other').done(theirs)).outcome, 'idle')
    },
  },
  {
    id: 'fence.holder.irrelevant',
    title: 'only the token counts: any process may finish a key with it',
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.equal((await other.renew(claim)).outcome, 'renewed')
      assert.equal((await other.done(claim)).outcome, 'idle')
      assert.equal((await s.done(claim)).outcome, 'lost')
    },
  },
  {
    id: 'fence.rises.purge',
    title: 'tokens keep rising after the last key was purged, removed or swept',
    needs: { operate: true },
    async run(s) {
      let last = 0
      const take = async (): Promise<void> => {
        await s.add('a', { failed: true })
        const claim = await s.claimOne('a')
        assert.ok(claim.token > last, 'the token is greater')
        last = claim.token
        await s.done(claim)
      }
      await take()
      await s.operate.purge(s.queue)
      await take()
      await s.operate.remove(s.queue, ['a'])
      await take()
      await s.step(1_000)
      await s.tick({ failuresExpireMs: 1_000 })
      await take()
    },
  },
]
