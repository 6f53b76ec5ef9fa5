import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

/** The promises of done and release. */
export const finishCases: readonly Case[] = [
  {
    id: 'done.idle',
    title: 'a key that is done and has no pending run leaves no row',
    async run(s) {
      await s.add('a')
      const reply = await s.done(await s.claimOne('a'))
      assert.equal(reply.outcome, 'idle')
      assert.equal(reply.dueAt, Infinity)
      assert.equal(reply.failures, 0)
      assert.equal(await s.state('a'), 'gone')
      assert.deepEqual(await s.states(), {})
    },
  },
  {
    id: 'done.dirty.requeues',
    title: 'a key added while claimed is ready again after done',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      const reply = await s.done(claim)
      assert.equal(reply.outcome, 'ready')
      assert.ok(reply.dueAt <= s.now())
      await s.claimOne('a')
    },
  },
  {
    id: 'done.waiting.kept',
    title: 'done of one key does not affect other keys',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const claim = await s.claimOne()
      await s.addAfter('d', 100)
      await s.claimOne()
      await s.done(claim)
      assert.deepEqual(await s.states(), { ready: 1, delayed: 1, processing: 1 })
    },
  },
  {
    id: 'done.frees-at-once',
    title: 'a key can be claimed again right after it is done',
    async run(s) {
      for (let i = 0; i < 5; i += 1) {
        await s.add('a')
        await s.done(await s.claimOne('a'))
      }
      await s.claimNone()
    },
  },
  {
    id: 'done.forget',
    title: 'done with forget resets failures and crashes',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0)
      const crashed = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      await s.expire(crashed)
      const claim = await s.claimOne('a')
      assert.equal(claim.failures, 2)
      assert.equal(claim.crashes, 1)
      assert.equal((await s.done(claim, { forget: true })).failures, 0)
      await s.add('a')
      const next = await s.claimOne('a')
      assert.equal(next.failures, 0)
      assert.equal(next.crashes, 0)
    },
  },
  {
    id: 'done.failures.kept',
    title: 'done without forget keeps the count of failures',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0)
      assert.equal((await s.done(await s.claimOne('a'))).failures, 1)
      assert.equal(await s.state('a'), 'idle')
      assert.equal((await s.add('a')).failures, 1)
      assert.equal((await s.claimOne('a')).failures, 1)
    },
  },
  {
    id: 'done.others.not-held',
    title: 'done of a key that is not held returns lost, and changes nothing',
    async run(s) {
      assert.equal((await s.done({ key: 'never', token: 1 })).outcome, 'lost')
      await s.add('a')
      assert.equal((await s.done({ key: 'a', token: 1 })).outcome, 'lost')
      assert.deepEqual(await s.states(), { ready: 1 })
      assert.deepEqual(await s.claimKeys(), ['a'])
    },
  },
  {
    id: 'done.again.comes-back',
    title: 'a key that is done and added again in one write runs after the delay, and not before',
    async run(s) {
      await s.add('a', { item: '"first"', priority: 3 })
      await s.retry(await s.claimOne('a'), 0)
      const { key, token } = await s.claimOne('a')
      await s.add('a', { item: '"second"' })
      await s.cancel('a')
      const again = { delayMs: 100, priority: -2 }
      const reply = await s.finish({ as: 'done', key, token, forget: true, again })
      assert.deepEqual(reply, { outcome: 'delayed', dueAt: s.now() + 100, failures: 0 })
      assert.equal(await s.state('a'), 'delayed')
      await s.step(99)
      await s.claimNone()
      await s.step(1)
      const { item, priority, failures } = await s.claimOne('a')
      assert.deepEqual([item, priority, failures], ['"second"', -2, 0])
    },
  },
  {
    id: 'done.again.failures.kept',
    title: 'a key that is done without forget and added again keeps the count of failures',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0)
      const { key, token } = await s.claimOne('a')
      const again = { delayMs: 0, priority: 5 }
      const reply = await s.finish({ as: 'done', key, token, forget: false, again })
      assert.equal(reply.outcome, 'ready')
      assert.equal(reply.failures, 1)
      const { priority, failures } = await s.claimOne('a')
      assert.deepEqual([priority, failures], [5, 1])
    },
  },
  {
    id: 'done.again.fenced',
    title: 'a stale token adds no key again',
    async run(s) {
      await s.add('a')
      const { key, token } = await s.claimOne('a')
      const again = { delayMs: 0, priority: 0 }
      const stale = { as: 'done', key, token: token + 1_000, forget: true, again } as const
      assert.deepEqual(await s.finish(stale), { outcome: 'lost', dueAt: Infinity, failures: 0 })
      assert.equal(await s.state('a'), 'processing')
      await s.done({ key, token })
      assert.equal((await s.finish(stale)).outcome, 'lost')
      assert.deepEqual(await s.states(), {})
    },
  },
  {
    id: 'release.returns',
    title: 'a released key can be claimed at once, and nothing is counted',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      const reply = await s.release(claim)
      assert.equal(reply.outcome, 'ready')
      assert.equal(reply.dueAt, claim.readyAt)
      assert.equal(reply.failures, 0)
      const again = await s.claimOne('a')
      assert.equal(again.failures, 0)
      assert.equal(again.crashes, 0)
      assert.equal(again.askedAt, claim.askedAt)
    },
  },
  {
    id: 'release.dirty.collapses',
    title:
      'a run that was requested while the key was held and the released one are merged into one run',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      await s.release(claim)
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'release.delayed.position',
    title:
      'a key that was delayed, claimed and released is ready since it was due, and asked for before',
    needs: { order: 'per-producer' },
    async run(s) {
      const askedAt = s.now()
      const dueAt = askedAt + 100
      const delayed = ['delayed', 'delayed too']
      for (const reply of await s.addAll(delayed.map((key) => s.ask(key, { delayMs: 100 }))))
        assert.equal(reply.dueAt, dueAt)
      await s.step(50)
      await s.add('earlier')
      await s.step(50)
      const { seq } = await s.row('delayed')
      for (const claim of [...(await s.claim({ limit: 3 })).claims].reverse()) {
        if (claim.key !== 'earlier')
          assert.deepEqual([claim.askedAt, claim.readyAt], [askedAt, dueAt])
        if (claim.key === 'delayed') assert.equal((await s.row('delayed')).claimedSeq, seq)
        await s.release(claim)
      }
      assert.equal((await s.row('delayed')).askedAt, askedAt)
      assert.deepEqual(await s.claimKeys(), ['earlier', ...delayed])
    },
  },
  {
    id: 'release.delayed.kept',
    title: "a delay that was requested while the key was held survives the release ('client-go')",
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.addAfter('a', 100)
      await s.release(claim)
      await s.done(await s.claimOne('a'))
      assert.equal(await s.state('a'), 'delayed')
      await s.step(100)
      await s.claimOne('a')
    },
  },
  {
    id: 'release.second-run.kept',
    title: 'the second run that a claim moved up is still pending after the release',
    async run(s) {
      for (const dedupe of ['client-go', 'earliest'] as const) {
        await s.addAfter(dedupe, 100)
        await s.add(dedupe)
        await s.release(await s.claimOne(dedupe), { dedupe })
        await s.done(await s.claimOne(dedupe))
        assert.equal(await s.state(dedupe), 'delayed')
      }
      await s.step(100)
      assert.deepEqual((await s.claimKeys()).sort(), ['client-go', 'earliest'])
    },
  },
  {
    id: 'release.cancelled',
    title: 'a second run that was cancelled while its key was held stays so',
    async run(s) {
      await s.addAfter('a', 100)
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.cancel('a')
      await s.addAfter('a', 200)
      await s.release(claim, { dedupe: 'earliest' })
      assert.equal((await s.row('a')).laterAt, s.now() + 200)
      const again = await s.claimOne('a')
      await s.add('a', { priority: 9 })
      await s.cancel('a')
      await s.release(again)
      assert.equal((await s.claimOne('a')).priority, 0, 'its priority does not count')
    },
  },
  {
    id: 'release.pending-run',
    title:
      'a released run is pending as before its claim, although its failures were forgotten meanwhile',
    async run(s) {
      for (const dedupe of ['client-go', 'earliest'] as const) {
        const run = async () => {
          const row = await s.row(dedupe)
          const { dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt } = row
          return { dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt }
        }
        await s.add(dedupe, { priority: 3 })
        await s.retry(await s.claimOne(dedupe), 10)
        await s.step(10)
        await s.addAfter(dedupe, 100)
        const before = await run()
        const claim = await s.claimOne(dedupe)
        await s.step(1)
        await s.forget(dedupe)
        assert.equal((await s.release(claim, { dedupe })).failures, 0)
        assert.deepEqual(await run(), before)
        await s.done(await s.claimOne(dedupe))
      }
    },
  },
  {
    id: 'finish.batch.failures',
    title: 'keys that are done together keep or forget their failures, each as its finish says',
    async run(s) {
      const keys = ['kept', 'forgotten', 'dirty.kept', 'dirty.forgotten']
      await s.addAll(keys)
      const failed = (await s.claim({ limit: 4 })).claims
      await s.finishAll(failed.map(({ key, token }) => ({ as: 'retry', key, token, delayMs: 0 })))
      const { claims } = await s.claim({ limit: 4 })
      await s.addAll(['dirty.kept', 'dirty.forgotten'])
      const replies = await s.finishAll(
        claims.map(({ key, token }) => ({ as: 'done', key, token, forget: /forgotten/.test(key) })),
      )
      const failures = claims.map(({ key }, at) => [key, replies[at]?.failures])
      assert.deepEqual(Object.fromEntries(failures), {
        kept: 1,
        forgotten: 0,
        'dirty.kept': 1,
        'dirty.forgotten': 0,
      })
      await s.addAll(['kept', 'forgotten'])
      const again = (await s.claim({ limit: 4 })).claims
      for (const { key, failures } of again) assert.equal(failures, /forgotten/.test(key) ? 0 : 1)
    },
  },
  {
    id: 'finish.batch.mixed',
    title: 'one batch can finish keys in every way',
    async run(s) {
      await s.addAll(['done', 'retry', 'release', 'park', 'dirty'])
      const { claims } = await s.claim({ limit: 5 })
      await s.add('dirty')
      const token = (key: string): number => claims.find((c) => c.key === key)?.token ?? -1
      const replies = await s.finishAll([
        { as: 'done', key: 'dirty', token: token('dirty'), forget: false },
        { as: 'retry', key: 'retry', token: token('retry'), delayMs: 100 },
        { as: 'park', key: 'park', token: token('park') },
        { as: 'release', key: 'release', token: token('release') },
        { as: 'done', key: 'done', token: token('done'), forget: true },
      ])
      assert.deepEqual(
        replies.map(({ outcome, failures }) => [outcome, failures]),
        [
          ['ready', 0],
          ['delayed', 1],
          ['parked', 0],
          ['ready', 0],
          ['idle', 0],
        ],
      )
      assert.deepEqual(await s.states(), { ready: 2, backoff: 1, parked: 1 })
    },
  },
  {
    id: 'finish.batch.stale-alone',
    title: 'a stale token in a batch is lost alone; the other keys of the batch are finished',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3 })
      const finishes = claims.map(({ key, token }, index) => ({
        as: 'done' as const,
        key,
        token: index === 1 ? token + 1_000 : token,
        forget: false,
      }))
      const replies = await s.finishAll([
        { as: 'done', key: 'unknown', token: 1, forget: false },
        ...finishes,
      ])
      assert.deepEqual(
        replies.map(({ outcome }) => outcome),
        ['lost', 'idle', 'lost', 'idle'],
      )
      assert.deepEqual(await s.states(), { processing: 1 })
    },
  },
]
