import assert from 'node:assert/strict'
import { type KeyStateWord, keyStateWords } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'

async function keysOf(s: Scene, request: Parameters<Scene['list']>[0]): Promise<string[]> {
  return (await s.list(request)).rows.map(({ key }) => key)
}

/** Two keys, both in this state. */
async function twoOf(s: Scene, word: KeyStateWord): Promise<void> {
  const isHeld = word === 'processing' || word === 'dirty' || word === 'parked'
  for (const key of ['a', 'b']) {
    if (isHeld || word === 'ready') await s.add(key)
    else await s.addAfter(key, 1_000, { failed: word !== 'delayed' })
    if (word === 'idle') await s.cancel(key)
  }
  for (const claim of isHeld ? (await s.claim({ limit: 2 })).claims : []) {
    if (word === 'dirty') await s.add(claim.key)
    if (word === 'parked') await s.parkHeld(claim)
  }
}

/** Held, parked and cancelled keys, with and without a pending run. */
async function addWithoutWaiting(s: Scene): Promise<void> {
  for (const delayMs of [0, 1_000]) {
    for (const name of ['held', 'parked', 'cancelled', 'parked, cancelled']) {
      const key = `${name} ${delayMs}`
      await s.add(key, { failed: true })
      const claim = await s.claimOne(key)
      if (name.startsWith('parked')) await s.parkHeld(claim)
      if (name === 'cancelled') await s.done(claim)
      await s.addAfter(key, delayMs)
      if (name.endsWith('cancelled')) await s.cancel(key)
    }
  }
}

/** The edges of counts, pages and prefixes. */
export const pagingCases: readonly Case[] = [
  {
    id: 'counts.cap.exact',
    title: 'the cap is for each state alone, and counts that only just reach it are complete',
    async run(s) {
      await s.addAll(['a', 'b', 'c', 'd'])
      for (const { key } of (await s.claim({ limit: 4 })).claims) if (key < 'c') await s.add(key)
      await s.addAll(['e', 'f'])
      for (const delayMs of [100, 200]) {
        await s.addAfter(`delayed ${delayMs}`, delayMs)
        await s.addAfter(`failed ${delayMs}`, delayMs, { failed: true })
      }
      const { oldestReadyAt: _, heldUntil: __, ...counts } = await s.counts(2)
      const two = { ready: 2, delayed: 2, backoff: 2, processing: 2, dirty: 2 }
      assert.deepEqual(counts, { ...two, parked: 0, idle: 0, capped: false, paused: false })
      assert.equal((await s.counts(1)).capped, true)
      await s.claimOne()
      assert.equal((await s.counts(2)).capped, true)
      for (const failed of [false, true]) {
        const queue = s.on(`failed ${failed}`)
        for (const delayMs of [100, 200])
          await queue.addAfter(`a ${delayMs}`, delayMs, { failed: !failed })
        for (const delayMs of [300, 400, 500])
          await queue.addAfter(`b ${delayMs}`, delayMs, { failed })
        assert.equal((await queue.counts(2)).capped, true)
      }
    },
  },
  {
    id: 'counts.cap.each',
    title: 'counts report that they are cut, whichever state has more keys than the cap',
    async run(s) {
      for (const word of keyStateWords) {
        const queue = s.on(word)
        await twoOf(queue, word)
        assert.deepEqual(await queue.states(), { [word]: 2 })
        assert.equal((await queue.counts(1)).capped, true, word)
        assert.equal((await queue.counts(2)).capped, false, word)
      }
    },
  },
  {
    id: 'counts.oldest-ready.order',
    title: 'the oldest ready key is the one that became ready first, whatever its priority and age',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('released')
      const claim = await s.claimOne('released')
      await s.add('released')
      await s.step(100)
      await s.add('urgent', { priority: 5 })
      const urgentAt = s.now()
      await s.step(100)
      await s.add('low', { priority: -5 })
      await s.done(claim)
      assert.equal((await s.counts()).oldestReadyAt, urgentAt)
    },
  },
  {
    id: 'counts.one-state',
    title: 'a key is in one count, whatever its priority and the keys of other queues',
    needs: { order: 'per-producer' },
    async run(s) {
      let oldestReadyAt = Infinity
      for (const queue of [s.on('other'), s]) {
        await addWithoutWaiting(queue)
        const counts = { processing: 1, dirty: 1, parked: 4, idle: 2 }
        assert.deepEqual(await queue.states(), counts)
        assert.equal((await queue.counts()).oldestReadyAt, Infinity)
        await s.step(100)
        oldestReadyAt = s.now()
        for (const priority of [0, 5, -5]) {
          await queue.add(`ready ${priority}`, { priority })
          await queue.addAfter(`delayed ${priority}`, 1_000, { priority })
          await queue.addAfter(`failed ${priority}`, 1_000, { priority, failed: true })
          await s.step(1)
        }
        assert.deepEqual(await queue.states(), { ready: 3, delayed: 3, backoff: 3, ...counts })
      }
      assert.equal((await s.counts()).oldestReadyAt, oldestReadyAt)
    },
  },
  {
    id: 'list.keys.filtered',
    title: 'keys that are requested by name are restricted by state and prefix like others',
    async run(s) {
      await s.addAll(['x/a', 'y/b'])
      await s.addAfter('x/c', 1_000)
      const keys = ['y/b', 'x/a', 'x/c']
      assert.deepEqual(await keysOf(s, { keys, state: 'ready', prefix: 'x/' }), ['x/a'])
      assert.deepEqual(await keysOf(s, { keys, state: 'delayed' }), ['x/c'])
    },
  },
  {
    id: 'list.pages.last',
    title: 'the last page has no cursor, even if it is full',
    async run(s) {
      await s.addAll(['a', 'b', 'c', 'd'])
      const first = await s.list({ limit: 2 })
      assert.notEqual(first.cursor, undefined)
      const last = await s.list({ limit: 2, cursor: first.cursor })
      assert.deepEqual(
        last.rows.map(({ key }) => key),
        ['c', 'd'],
      )
      assert.equal(last.cursor, undefined)
    },
  },
  {
    id: 'list.pages.last-of-state',
    title: 'the last page of a state has no cursor, even if keys of other states come after it',
    async run(s) {
      await s.addAfter('a', 1_000)
      await s.addAfter('b', 1_000)
      // A driver may find delayed keys and those in back-off in one index.
      await s.addAfter('bb', 1_000, { failed: true })
      await s.addAll(['aa', 'c', 'd'])
      const page = await s.list({ limit: 2, state: 'delayed' })
      assert.deepEqual(
        page.rows.map(({ key }) => key),
        ['a', 'b'],
      )
      assert.equal(page.cursor, undefined)
      const first = await s.list({ limit: 2, state: 'ready' })
      assert.notEqual(first.cursor, undefined)
      const last = await s.list({ limit: 1, state: 'ready', cursor: first.cursor })
      assert.deepEqual(
        last.rows.map(({ key }) => key),
        ['d'],
      )
      assert.equal(last.cursor, undefined)
    },
  },
  {
    id: 'list.prefix.last-character',
    title: 'a prefix may end in a character that has no next one, and keys may go on with any',
    async run(s) {
      // The next code unit, code point or byte of these is no character, another length, or none.
      const prefixes = ['\u007f', '\u07ff', '\ud7ff', '\uffff', '🟿', '\u{10ffff}', 'a\u{10ffff}']
      for (const prefix of prefixes) {
        const keys = [prefix, `${prefix}a`, `${prefix}\uffff`, `${prefix}\u{10ffff}`]
        await s.addAll([...keys, 'a', 'b', '\ue000'])
        assert.deepEqual(await keysOf(s, { prefix }), keys)
        assert.deepEqual(await keysOf(s, { prefix, limit: 2 }), keys.slice(0, 2))
        for (const key of keys) await s.cancel(key)
      }
    },
  },
  {
    id: 'list.row.claimed',
    title: 'a row of a held key shows the run that its holder has, and the next one',
    async run(s) {
      const start = s.now()
      await s.addAfter('a', 10, { priority: 7 })
      await s.step(30)
      const claim = await s.claimOne('a')
      await s.add('a', { priority: -3 })
      const row = await s.row('a')
      assert.equal(row.claimedPriority, 7)
      assert.equal(row.claimedWhy, 'delay')
      assert.equal(row.claimedDueAt, start + 10)
      assert.equal(row.claimedReadyAt, start + 10)
      assert.equal(row.claimedAskedAt, start)
      assert.deepEqual([row.priority, row.askedAt], [-3, start + 30])
      await s.done(claim)
      assert.equal((await s.row('a')).holder, undefined, 'no holder any more')
    },
  },
  {
    id: 'list.rows.fixed',
    title: 'rows and claims that were returned do not change with the key',
    async run(s) {
      await s.add('a', { item: '1' })
      const [row] = (await s.list()).rows
      assert.ok(row)
      const before = { ...row }
      const claim = await s.claimOne('a')
      const claimed = { ...claim }
      await s.step(5)
      await s.add('a', { item: '2', priority: 5 })
      await s.done(claim)
      assert.deepEqual({ ...row }, before)
      assert.deepEqual({ ...claim }, claimed)
    },
  },
]
