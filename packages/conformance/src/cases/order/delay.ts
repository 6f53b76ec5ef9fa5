import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

const tenYearsMs = 10 * 365.25 * 24 * 60 * 60 * 1_000

/** When delayed keys run, and how several delays of one key are merged. */
export const delayCases: readonly Case[] = [
  {
    id: 'delay.not-before',
    title: 'a delayed key is not handed out before it is due',
    async run(s) {
      const { outcome, dueAt } = await s.addAfter('a', 1_000)
      assert.equal(outcome, 'added')
      assert.equal(dueAt, s.now() + 1_000)
      await s.claimNone()
      await s.step(999.5)
      await s.claimNone()
      assert.equal(await s.state('a'), 'delayed')
    },
  },
  {
    id: 'delay.exactly-due',
    title: 'a key that is due at exactly this instant is due',
    async run(s) {
      await s.addAfter('a', 1_000)
      await s.step(1_000)
      assert.equal(await s.state('a'), 'ready')
      await s.claimOne('a')
    },
  },
  {
    id: 'delay.fraction',
    title: 'a delay of a fraction of a millisecond is a delay',
    async run(s) {
      const start = s.now()
      assert.equal((await s.addAfter('a', 0.25)).dueAt, start + 0.25)
      await s.claimNone()
      await s.step(0.25)
      assert.equal((await s.claimOne('a')).readyAt, start + 0.25)
    },
  },
  {
    id: 'delay.none',
    title: 'a delay of zero or less is no delay',
    async run(s) {
      for (const delayMs of [0, -0, -1, -1e9]) {
        assert.equal((await s.addAfter('a', delayMs)).dueAt, s.now())
        const claim = await s.claimOne('a')
        assert.equal(claim.readyAt, s.now())
        await s.done(claim)
      }
    },
  },
  {
    id: 'delay.longest',
    title: 'a delay of ten years works like any other',
    async run(s) {
      const start = s.now()
      assert.equal((await s.addAfter('a', tenYearsMs)).dueAt, start + tenYearsMs)
      await s.step(tenYearsMs - 1)
      await s.claimNone()
      await s.step(1)
      await s.claimOne('a')
    },
  },
  {
    id: 'delay.earlier.moves',
    title: 'of two delays the earlier one counts, and the key runs once',
    async run(s) {
      for (const dedupe of ['client-go', 'earliest'] as const) {
        await s.addAfter('a', 1_000, { dedupe })
        const { outcome, dueAt } = await s.addAfter('a', 100, { dedupe })
        assert.equal(outcome, 'moved')
        assert.equal(dueAt, s.now() + 100)
        await s.step(100)
        await s.done(await s.claimOne('a'))
        await s.step(10_000)
        await s.claimNone()
      }
    },
  },
  {
    id: 'delay.later.unchanged',
    title: 'a later delay does not postpone an earlier one',
    async run(s) {
      for (const dedupe of ['client-go', 'earliest'] as const) {
        const start = s.now()
        await s.addAfter('a', 100, { dedupe })
        await s.step(50)
        const { outcome, dueAt } = await s.addAfter('a', 500, { dedupe })
        assert.equal(outcome, 'unchanged')
        assert.equal(dueAt, start + 100)
        await s.step(50)
        await s.done(await s.claimOne('a'))
        await s.step(10_000)
        await s.claimNone()
      }
    },
  },
  {
    id: 'delay.client-go.add-then-delay',
    title: "under 'client-go', an add and then a delayed add are two runs",
    async run(s) {
      await s.add('a')
      assert.equal((await s.addAfter('a', 100)).outcome, 'added')
      assert.equal((await s.row('a')).laterWhy, 'delay')
      await s.done(await s.claimOne('a'))
      assert.equal(await s.state('a'), 'delayed')
      await s.claimNone()
      await s.step(100)
      await s.done(await s.claimOne('a'))
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'delay.client-go.delay-then-add',
    title: "under 'client-go', a delayed add and then an add are two runs",
    async run(s) {
      await s.addAfter('a', 100)
      const { outcome, dueAt } = await s.add('a')
      assert.equal(outcome, 'added')
      assert.equal(dueAt, s.now())
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      await s.step(100)
      await s.done(await s.claimOne('a'))
      await s.step(10_000)
      await s.claimNone()
    },
  },
  {
    id: 'delay.client-go.collapse',
    title: "under 'client-go', two pending runs that are both due are merged into one run",
    async run(s) {
      await s.addAfter('a', 100)
      await s.add('a')
      await s.step(100)
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'delay.client-go.collapse.add-after',
    title: "under 'client-go', a second run that fell due makes room for a new one",
    async run(s) {
      await s.add('a')
      await s.addAfter('a', 100)
      await s.step(100)
      const { outcome } = await s.addAfter('a', 50)
      assert.equal(outcome, 'added')
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      await s.step(50)
      await s.claimOne('a')
    },
  },
  {
    id: 'delay.client-go.second-earlier',
    title: "under 'client-go', the second run too moves only earlier",
    async run(s) {
      await s.add('a')
      await s.addAfter('a', 100)
      assert.equal((await s.addAfter('a', 200)).outcome, 'unchanged')
      assert.equal((await s.addAfter('a', 50)).outcome, 'moved')
      await s.done(await s.claimOne('a'))
      await s.step(50)
      await s.done(await s.claimOne('a'))
      await s.step(1_000)
      await s.claimNone()
    },
  },
  {
    id: 'delay.client-go.held',
    title: "under 'client-go', a held key keeps both of its pending runs",
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.addAfter('a', 100)
      await s.add('a')
      assert.equal((await s.done(claim)).outcome, 'ready')
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      await s.step(100)
      await s.claimOne('a')
    },
  },
  {
    id: 'delay.earliest.add-then-delay',
    title: "under 'earliest', a delayed add of a waiting key changes nothing",
    async run(s) {
      await s.add('a', { dedupe: 'earliest' })
      const { outcome, dueAt } = await s.addAfter('a', 100, { dedupe: 'earliest', item: '1' })
      assert.equal(outcome, 'unchanged')
      assert.equal(dueAt, s.now())
      await s.done(await s.claimOne('a'))
      await s.step(1_000)
      await s.claimNone()
    },
  },
  {
    id: 'delay.earliest.delay-then-add',
    title: "under 'earliest', an add ends the delay, and the key runs once",
    async run(s) {
      await s.addAfter('a', 100, { dedupe: 'earliest' })
      assert.equal((await s.add('a', { dedupe: 'earliest' })).outcome, 'moved')
      await s.done(await s.claimOne('a'))
      await s.step(1_000)
      await s.claimNone()
    },
  },
  {
    id: 'delay.held.kept',
    title: 'a delay that is requested while a key is held runs after it is done, and not before',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      const { outcome, dueAt } = await s.addAfter('a', 100)
      assert.equal(outcome, 'added')
      assert.equal(await s.state('a'), 'processing')
      const reply = await s.done(claim)
      assert.equal(reply.outcome, 'delayed')
      assert.equal(reply.dueAt, dueAt)
      await s.claimNone()
      await s.step(100)
      await s.claimOne('a')
    },
  },
  {
    id: 'delay.held.due',
    title: 'a delay that ends while the key is held makes it dirty, and not claimable',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.addAfter('a', 100)
      await s.step(100)
      assert.equal(await s.state('a'), 'dirty')
      await s.claimNone()
      assert.equal((await s.done(claim)).outcome, 'ready')
      await s.claimOne('a')
    },
  },
  {
    id: 'delay.due-by',
    title: 'a claim with dueBy takes keys that were due by then, and no later ones',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAll([
        s.ask('late', { delayMs: 20, priority: 5 }),
        s.ask('exact', { delayMs: 10 }),
        s.ask('early'),
      ])
      const dueBy = s.now() + 10
      await s.step(50)
      assert.deepEqual(await s.claimKeys({ dueBy }), ['early', 'exact'])
      assert.deepEqual(await s.claimKeys(), ['late'])
      // In their order, also those that were put back, of one instant and of several.
      for (const ms of [0, 5]) {
        const [first, second, third] = [`1 by ${ms}`, `2 by ${ms}`, `3 by ${ms}`] as const
        await s.addAfter(`late by ${ms}`, 1_000, { priority: 5 })
        await s.add(first)
        await s.step(ms)
        await s.add(second)
        const claims = [await s.claimOne(first), await s.claimOne(second)] as const
        await s.release(claims[0])
        await s.step(ms)
        await s.add(third)
        await s.release(claims[1])
        const instant = s.now()
        await s.step(1_000)
        assert.deepEqual(await s.claimKeys({ dueBy: instant }), [first, second, third])
        assert.deepEqual(await s.claimKeys(), [`late by ${ms}`])
      }
    },
  },
  {
    id: 'delay.due-by.waited',
    title: 'a claim with dueBy takes a key that was due by then, even if it was held until later',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      const dueBy = s.now()
      await s.step(10)
      await s.done(claim)
      await s.claimNone({ dueBy: dueBy - 1 })
      await s.claimOne('a', { dueBy })
    },
  },
  {
    id: 'delay.due-by.limit',
    title: 'a claim with dueBy takes no more keys than its limit',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      assert.deepEqual(await s.claimKeys({ dueBy: s.now(), limit: 2 }), ['a', 'b', 'c'])
    },
  },
  {
    id: 'delay.second-run.reason',
    title: 'a second run is delayed or in back-off, as it was requested',
    async run(s) {
      await s.add('failed')
      await s.retry(await s.claimOne('failed'), 100)
      await s.addAll(['failed', 'delayed'])
      await s.addAfter('delayed', 100)
      for (const claim of (await s.claim({ limit: 2 })).claims) await s.done(claim)
      assert.deepEqual([await s.state('failed'), await s.state('delayed')], ['backoff', 'delayed'])
    },
  },
]
