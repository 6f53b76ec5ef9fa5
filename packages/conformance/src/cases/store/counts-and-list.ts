import assert from 'node:assert/strict'
import { type KeyStateWord, keyStateWords, never, noToken } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'

/** One key in every state. */
async function oneOfEach(s: Scene): Promise<void> {
  await s.addAll(['processing', 'dirty', 'parked', 'idle', 'backoff'])
  for (const claim of (await s.claim({ limit: 5 })).claims) {
    if (claim.key === 'dirty') await s.add('dirty')
    if (claim.key === 'parked') await s.parkHeld(claim)
    if (claim.key === 'backoff') await s.retry(claim, 1_000)
    if (claim.key === 'idle') {
      await s.add('idle', { failed: true })
      await s.cancel('idle')
      await s.done(claim)
    }
  }
  await s.add('ready')
  await s.addAfter('delayed', 1_000)
}

const others: Readonly<Record<KeyStateWord, number>> = {
  ready: 1,
  delayed: 1,
  backoff: 1,
  processing: 1,
  dirty: 1,
  parked: 1,
  idle: 1,
}

/** Counts and lists. */
export const countsAndListCases: readonly Case[] = [
  {
    id: 'counts.each-once',
    title: 'every key is counted once, in its state',
    async run(s) {
      await oneOfEach(s)
      assert.deepEqual(await s.states(), others)
      const { capped, paused, oldestReadyAt } = await s.counts()
      assert.deepEqual([capped, paused, oldestReadyAt], [false, false, s.now()])
    },
  },
  {
    id: 'counts.follow-time',
    title: 'counts change with time alone, as keys fall due',
    async run(s) {
      await oneOfEach(s)
      await s.step(1_000)
      assert.deepEqual(await s.states(), {
        ready: 3,
        processing: 1,
        dirty: 1,
        parked: 1,
        idle: 1,
      })
    },
  },
  {
    id: 'counts.recount',
    title: 'counts equal a recount of the list after any history',
    async run(s) {
      let chance = 7
      for (let i = 0; i < 120; i += 1) {
        chance = (chance * 1_103_515_245 + 12_345) % 2_147_483_648
        const key = `k${chance % 9}`
        const way = (chance >> 8) % 6
        if (way === 0) await s.addAfter(key, chance % 50, { failed: chance % 3 === 0 })
        if (way < 3) await s.add(key)
        if (way === 3) await s.step(chance % 20)
        for (const claim of way > 3 ? (await s.claim({ limit: 2 })).claims : []) {
          if (way === 4) await s.retry(claim, chance % 30)
          else if (chance % 2 === 0) await s.done(claim, { forget: true })
        }
        const counts = await s.counts()
        const { rows } = await s.list()
        for (const word of keyStateWords) {
          assert.equal(counts[word], rows.filter(({ state }) => state === word).length, word)
        }
      }
    },
  },
  {
    id: 'counts.capped',
    title: 'counting stops at about the cap, and reports that it did',
    async run(s) {
      await s.addAll(Array.from({ length: 50 }, (_, i) => `k${i}`))
      const capped = await s.counts(10)
      assert.equal(capped.capped, true)
      assert.ok(capped.ready >= 10 && capped.ready <= 50)
      const whole = await s.counts(51)
      assert.equal(whole.capped, false)
      assert.equal(whole.ready, 50)
    },
  },
  {
    id: 'counts.cap.largest',
    title: 'with the largest possible cap, every key is counted',
    async run(s) {
      await oneOfEach(s)
      const { capped, ready, dirty } = await s.counts(Number.MAX_SAFE_INTEGER)
      assert.deepEqual([capped, ready, dirty], [false, 1, 1])
    },
  },
  {
    id: 'counts.oldest-ready',
    title: 'the counts report since when the oldest ready key has been ready',
    needs: { order: 'per-producer' },
    async run(s) {
      assert.equal((await s.counts()).oldestReadyAt, Infinity)
      for (const failed of [false, true]) {
        const start = s.now()
        await s.addAfter('delayed', 100, { failed })
        assert.equal((await s.counts()).oldestReadyAt, Infinity)
        await s.step(100)
        assert.equal((await s.counts()).oldestReadyAt, start + 100)
        await s.step(100)
        await s.add('b', { priority: 5 })
        assert.equal((await s.counts()).oldestReadyAt, start + 100)
        for (const key of ['b', 'delayed']) await s.done(await s.claimOne(key), { forget: true })
        assert.equal((await s.counts()).oldestReadyAt, Infinity)
      }
    },
  },
  {
    id: 'counts.held-until',
    title: 'the counts report when the last lease of the held keys ends, or ended',
    async run(s) {
      assert.equal((await s.counts()).heldUntil, Infinity)
      const start = s.now()
      await s.add('a')
      const first = await s.claimOne('a', { leaseMs: 5_000 })
      await s.add('b')
      await s.claimOne('b', { leaseMs: 9_000 })
      await s.add('c')
      await s.claimOne('c', { leaseMs: 1_000 })
      await s.add('b')
      assert.equal((await s.counts()).heldUntil, start + 9_000)
      await s.renew(first, 10_000)
      assert.equal((await s.counts()).heldUntil, start + 10_000)
      await s.done(first)
      await s.step(20_000)
      assert.equal((await s.counts()).heldUntil, start + 9_000)
      await s.add('d')
      await s.claimOne('d', { leaseMs: Infinity })
      assert.equal((await s.counts()).heldUntil, Infinity)
    },
  },
  {
    id: 'list.states',
    title: 'a list can be restricted to one state, and shows each key in its own state',
    async run(s) {
      await oneOfEach(s)
      for (const state of keyStateWords) {
        const { rows } = await s.list({ state })
        assert.deepEqual(
          rows.map((row) => [row.key, row.state]),
          [[state, state]],
        )
      }
    },
  },
  {
    id: 'list.row',
    title: 'a row shows the stored state of a key',
    async run(s) {
      const start = s.now()
      await s.add('a', { item: '{"n":1}', priority: 4 })
      await s.step(10)
      await s.retry(await s.claimOne('a'), 0, { error: 'why' })
      const claim = await s.as('holder of a').claimOne('a', { leaseMs: 5_000 })
      await s.addAfter('a', 100, { priority: 2 })
      const row = await s.row('a')
      assert.equal(row.item, undefined)
      assert.equal(row.state, 'processing')
      assert.equal(row.token, claim.token)
      assert.equal(row.holder, 'holder of a')
      assert.equal(row.leaseUntil, start + 5_010)
      assert.equal(row.dueAt, start + 110)
      assert.equal(row.why, 'delay')
      assert.equal(row.laterAt, Infinity)
      assert.equal(row.askedAt, start + 10)
      assert.equal(row.priority, 2)
      assert.equal(row.failures, 1)
      assert.equal(row.crashes, 0)
      assert.equal(row.parked, false)
      assert.equal(row.lastError, 'why')
      await s.done(claim)
      const { holder, leaseUntil, token } = await s.row('a')
      assert.deepEqual(
        { holder, leaseUntil, token },
        { holder: undefined, leaseUntil: never, token: noToken },
      )
    },
  },
  {
    id: 'list.row.holder',
    title: 'a key that one holder finished and another claimed is listed with the second holder',
    async run(s) {
      await s.add('a')
      await s.addAfter('b', 1_000)
      const first = await s.as('first').claimOne('a')
      await s.row('b')
      await s.add('a')
      await s.done(first)
      await s.as('second').claimOne('a')
      await s.row('b')
      assert.equal((await s.row('a')).holder, 'second')
    },
  },
  {
    id: 'list.keys',
    title:
      'keys that are requested by name are listed once if a row is stored, in any number, also none',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { rows, cursor } = await s.list({ keys: ['c', 'unknown', 'a'], limit: 1 })
      assert.deepEqual(rows.map(({ key }) => key).sort(), ['a', 'c'])
      assert.equal(cursor, undefined)
      const twice = await s.list({ keys: ['b', 'a', 'b'], limit: 1 })
      assert.deepEqual(twice.rows.map(({ key }) => key).sort(), ['a', 'b'])
      assert.deepEqual((await s.list({ keys: [] })).rows, [])
      assert.deepEqual((await s.list({ keys: [''] })).rows, [])
    },
  },
  {
    id: 'list.order',
    title: 'keys are listed in the order of their bytes, also across pages',
    async run(s) {
      const sorted = ['A', 'B', 'a', 'a/b', 'a0', 'b', 'é', '日', 'ｱ', '\uffff', '\u{10000}', '🚰']
      await s.addAll([...sorted].reverse())
      for (const limit of [1, 100]) {
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page = await s.list({ limit, cursor })
          seen.push(...page.rows.map(({ key }) => key))
          cursor = page.cursor
        } while (cursor !== undefined && seen.length < 100)
        assert.deepEqual(seen, sorted)
      }
    },
  },
  {
    id: 'list.pages',
    title: 'pages follow each other without a gap and without a key twice',
    async run(s) {
      const keys = Array.from({ length: 23 }, (_, i) => `k${String(i).padStart(2, '0')}`)
      await s.addAll([...keys].reverse())
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await s.list({ limit: 5, cursor })
        assert.ok(page.rows.length <= 5)
        seen.push(...page.rows.map(({ key }) => key))
        cursor = page.cursor
      } while (cursor !== undefined && seen.length < 100)
      assert.deepEqual(seen, keys)
    },
  },
  {
    id: 'list.pages.moving',
    title: 'keys that are added or deleted between two pages do not affect the others',
    async run(s) {
      await s.addAll(['b', 'd', 'f', 'h'])
      const first = await s.list({ limit: 2 })
      assert.deepEqual(
        first.rows.map(({ key }) => key),
        ['b', 'd'],
      )
      await s.cancel('d')
      await s.cancel('f')
      await s.addAll(['a', 'aa', 'c', 'g'])
      const second = await s.list({ limit: 10, cursor: first.cursor })
      assert.deepEqual(
        second.rows.map(({ key }) => key),
        ['g', 'h'],
      )
    },
  },
  {
    id: 'list.prefix',
    title: 'a list can be restricted to the keys with a prefix, taken literally',
    async run(s) {
      await s.addAll(['a%b', 'a%', 'axb', 'a_b', 'A%b', 'ba%', '100', '10', '1'])
      const keysOf = async (prefix: string): Promise<string[]> =>
        (await s.list({ prefix })).rows.map(({ key }) => key)
      assert.deepEqual(await keysOf('a%'), ['a%', 'a%b'])
      assert.deepEqual(await keysOf('a_'), ['a_b'])
      assert.deepEqual(await keysOf('10'), ['10', '100'])
      assert.deepEqual(await keysOf('none'), [])
      assert.equal((await keysOf('')).length, 9)
    },
  },
  {
    id: 'list.filter.pages',
    title: 'a state, a prefix and pages can be combined',
    async run(s) {
      for (let i = 0; i < 12; i += 1) {
        await s.addAfter(`${i % 2 === 0 ? 'x' : 'y'}/${10 + i}`, i % 3 === 0 ? 0 : 1_000)
      }
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await s.list({ limit: 1, cursor, prefix: 'x/', state: 'delayed' })
        seen.push(...page.rows.map(({ key }) => key))
        cursor = page.cursor
      } while (cursor !== undefined && seen.length < 100)
      assert.deepEqual(seen, ['x/12', 'x/14', 'x/18', 'x/20'])
    },
  },
  {
    id: 'list.changes-nothing',
    title: 'counting and listing change nothing',
    async run(s) {
      await oneOfEach(s)
      const before = await s.list()
      await s.counts()
      await s.counts(1)
      await s.list({ limit: 1 })
      assert.deepEqual(await s.list(), before)
      assert.deepEqual(await s.claimKeys(), ['ready'])
    },
  },
]
