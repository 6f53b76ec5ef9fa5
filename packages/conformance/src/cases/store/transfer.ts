import assert from 'node:assert/strict'
import {
  type BucketRow,
  emptyKeyState,
  type KeyRow,
  type LimiterPlan,
  type TransferRow,
} from '@sluice/core'
import { transferMembers, transferRow } from '@sluice/core/driver'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'
import { transferVerbs } from '../../scene/transfer-verbs.ts'
import { wakes } from '../../scene/wakes.ts'

const needs = { transfer: true } as const

/** A row without a pending run and without counts, with some members replaced. */
function row(key: string, parts: Partial<TransferRow> = {}): TransferRow {
  const empty = emptyKeyState()
  const members = Object.fromEntries(transferMembers.map((member) => [member, empty[member]]))
  const bare = { ...members, key, item: undefined, lastError: undefined } as TransferRow
  return { ...bare, ...parts }
}

/** A row of a key that is ready since `at`, with the given `seq`. */
function ready(key: string, at: number, seq: number, parts: Partial<TransferRow> = {}) {
  return row(key, { dueAt: at, why: 'add', readyAt: at, seq, askedAt: at, ...parts })
}

/** A trace context; each digit gives another one. */
function trace(digit: number): string {
  return `00-${String(digit).repeat(32)}-${String(digit).repeat(16)}-01`
}

/** A row of every state in which a key is not held. */
function rowsOfAllStates(now: number): readonly TransferRow[] {
  const later = { why: 'delay', laterWhy: 'add', askedAt: now - 50.25 } as const
  return [
    ready('backoff', now + 700, 5, { why: 'backoff', failures: 4, failedAt: now - 100 }),
    ready('delayed', now + 900.5, 4, { ...later, priority: -7, trace: `${trace(1)} ${trace(2)}` }),
    row('idle', { failures: 2, crashes: 1, failedAt: now - 60_000, lastError: '{"message":"no"}' }),
    ready('parked', now - 10, 3, { parked: true, failures: 9, failedAt: now - 5 }),
    row('parked/idle', { parked: true }),
    ready('ready', now - 20, 2, {
      priority: 3,
      item: '{"id":1}',
      askedAt: now - 30,
      trace: trace(3),
    }),
    ready('twice', now - 30, 1, { laterAt: now + 400, laterWhy: 'backoff' }),
  ]
}

/** The stored rows as they would be moved, in the order of the keys. */
async function stored(s: Scene): Promise<readonly TransferRow[]> {
  return (await s.list()).rows.map(transferRow)
}

/** Without the members that have no meaning if no run is pending, which stores need not keep. */
function meant(each: TransferRow): Partial<TransferRow> {
  const { why, readyAt, seq, priority, askedAt, laterWhy, ...always } = each
  return {
    ...always,
    ...(each.dueAt === Infinity ? {} : { why, readyAt, seq, priority, askedAt }),
    ...(each.laterAt === Infinity ? {} : { laterWhy }),
  }
}

async function imported(s: Scene, rows: readonly TransferRow[]): Promise<readonly string[]> {
  const outcomes = await transferVerbs(s).importRows(s.queue, rows)
  assert.equal(outcomes.length, rows.length, 'one answer for each row')
  return outcomes
}

const bucket = (name: string, now: number, tokens: number): BucketRow => {
  return { name, perSecond: 1, burst: 5, tokens, at: now }
}

const planOn = (name: string): LimiterPlan => ({ kind: 'bucket', name, perSecond: 1, burst: 5 })

/** The verbs that move keys between stores. */
export const transferCases: readonly Case[] = [
  {
    id: 'transfer.import.all-states',
    title: 'an imported row is stored completely, whatever its state',
    needs,
    async run(s) {
      const rows = rowsOfAllStates(s.now())
      assert.deepEqual(
        await imported(s, rows),
        rows.map(() => 'imported'),
      )
      assert.deepEqual((await stored(s)).map(meant), rows.map(meant))
      const states = new Map((await s.list()).rows.map(({ key, state }) => [key, state]))
      for (const key of ['backoff', 'delayed', 'idle', 'parked', 'ready'] as const) {
        assert.equal(states.get(key), key)
      }
    },
  },
  {
    id: 'transfer.import.again',
    title: 'a row that is imported again changes nothing',
    needs,
    async run(s) {
      const rows = rowsOfAllStates(s.now())
      await imported(s, rows)
      const before = await stored(s)
      assert.deepEqual(
        await imported(s, rows),
        rows.map(() => 'unchanged'),
      )
      assert.deepEqual(await stored(s), before)
    },
  },
  {
    id: 'transfer.import.age-unknown',
    title: 'a key whose add time is unknown is claimed without an age',
    needs,
    async run(s) {
      const now = s.now()
      await imported(s, [row('a', { dueAt: now, why: 'add', readyAt: now, seq: 1 })])
      assert.equal((await s.claimOne('a')).askedAt, Infinity)
    },
  },
  {
    id: 'transfer.import.nothing',
    title: 'an empty row stores nothing',
    needs,
    async run(s) {
      assert.deepEqual(await imported(s, [row('a', { item: '1' })]), ['unchanged'])
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'transfer.import.positions',
    title: 'imported keys keep their positions, and keys that are added later come after them',
    needs: { ...needs, order: 'per-producer' },
    async run(s) {
      const at = s.now()
      const far = 2 ** 40
      await imported(s, [
        // It became ready by a clock that is ahead of this store's.
        ready('d', at, far + 9, { readyAt: at + 5_000 }),
        ready('a', at, far + 2),
        ready('b', at, far + 1),
        ready('c', at - 1, far + 3),
      ])
      await s.addAll(['e', 'f', 'g'])
      // A key of both stores has the better of its positions.
      await imported(s, [ready('g', at - 2, far + 5), ready('c', at, far)])
      assert.deepEqual(await s.claimKeys(), ['g', 'c', 'b', 'a', 'd', 'e', 'f'])
    },
  },
  {
    id: 'transfer.import.merges',
    title: 'a row is merged into the stored one: the earlier of two runs, the higher of two counts',
    needs,
    async run(s) {
      const now = s.now()
      await s.addAfter('a', 100, { priority: 4, failed: true })
      const promise = { dueAt: now + 50, readyAt: now + 50, why: 'backoff', seq: 9 } as const
      const theirs = row('a', {
        ...promise,
        ...{ askedAt: now - 500, priority: 2, failures: 3, crashes: 2, failedAt: now + 0.5 },
      })
      assert.deepEqual(await imported(s, [theirs]), ['merged'])
      const { dueAt, why, laterAt, priority, failures, crashes, failedAt, askedAt } =
        await s.row('a')
      assert.deepEqual(
        { dueAt, why, laterAt },
        { dueAt: now + 50, why: 'backoff', laterAt: now + 100 },
      )
      assert.deepEqual({ priority, failures, crashes }, { priority: 4, failures: 3, crashes: 2 })
      assert.deepEqual({ failedAt, askedAt }, { failedAt: now + 0.5, askedAt: now - 500 })
      await s.addAfter('same', 100)
      const same = row('same', { dueAt: now + 100, readyAt: now + 100, why: 'backoff', seq: 9 })
      assert.deepEqual(await imported(s, [{ ...same, askedAt: now }]), ['unchanged'])
      assert.equal((await s.row('same')).why, 'delay')
      const before = await s.add('failed', { failed: true })
      const counted = row('failed', { failures: before.failures, failedAt: now - 1 })
      assert.deepEqual(await imported(s, [counted, row('failed', {})]), ['unchanged', 'unchanged'])
      assert.equal((await s.row('failed')).failedAt, now)
    },
  },
  {
    id: 'transfer.import.traces',
    title: 'the trace contexts of two rows are merged in the order of their first adds, once',
    needs,
    async run(s) {
      for (const key of ['before', 'after', 'none']) {
        await s.add(key, key === 'none' ? {} : { trace: trace(1) })
        await s.add(key, key === 'none' ? {} : { trace: trace(2) })
      }
      const now = s.now()
      const both = `${trace(3)} ${trace(4)}`
      const rows = [
        ready('before', now, 1, { askedAt: now - 5, trace: both }),
        ready('after', now, 2, { askedAt: now + 5, trace: both }),
        ready('none', now, 3, { askedAt: now - 5, trace: both }),
      ]
      const traces = async (): Promise<readonly (string | undefined)[]> => {
        await imported(s, rows)
        return await Promise.all(rows.map(async ({ key }) => (await s.row(key)).trace))
      }
      const merged = [`${trace(3)} ${trace(2)}`, `${trace(1)} ${trace(4)}`, both]
      assert.deepEqual(await traces(), merged)
      assert.deepEqual(await traces(), merged, 'merged again')
    },
  },
  {
    id: 'transfer.import.item-stays',
    title: 'a stored item stays, and so does an error; those of a new key are imported',
    needs,
    async run(s) {
      const now = s.now()
      await s.add('there', { item: '"ours"' })
      const claim = await s.claimOne('there')
      await s.retry(claim, 0, { error: '{"message":"ours"}' })
      const more = { item: '"theirs"', lastError: '{"message":"theirs"}' }
      await imported(s, [ready('new', now, 1, more), ready('there', now, 2, more)])
      const pick = ({ item, lastError }: KeyRow) => ({ item, lastError })
      assert.deepEqual(pick(await s.row('new')), more)
      assert.deepEqual(pick(await s.row('there')), {
        item: '"ours"',
        lastError: '{"message":"ours"}',
      })
    },
  },
  {
    id: 'transfer.import.parks',
    title: 'a parked row parks the stored key',
    needs,
    async run(s) {
      await s.add('a')
      assert.deepEqual(await imported(s, [row('a', { parked: true })]), ['merged'])
      await s.claimNone()
      assert.equal(await s.state('a'), 'parked')
    },
  },
  {
    id: 'transfer.import.held',
    title:
      'importing a row of a held key does not affect the holder, and the run is pending afterwards',
    needs,
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.deepEqual(await imported(s, [ready('a', s.now() - 9, 1)]), ['merged'])
      await s.claimNone()
      assert.equal((await s.renew(claim)).outcome, 'renewed')
      assert.equal((await s.done(claim)).outcome, 'ready')
      await s.claimOne('a')
    },
  },
  {
    id: 'transfer.import.one-queue',
    title: 'rows are imported into the named queue only',
    needs,
    async run(s) {
      await imported(s, [ready('a', s.now(), 1)])
      await s.on('other').claimNone()
      assert.deepEqual((await s.on('other').list()).rows, [])
      await s.claimOne('a')
    },
  },
  {
    id: 'transfer.import.wakes',
    title: 'a watcher is called after an import',
    needs: { ...needs, watch: true },
    run: (s) => wakes(s, () => imported(s, [ready('a', s.now(), 1)])),
  },
  {
    id: 'transfer.import.max-pending',
    title: 'imported keys count towards maxPending',
    needs,
    async run(s) {
      await imported(s, [ready('a', s.now(), 1), row('idle', { failures: 1, failedAt: s.now() })])
      assert.equal((await s.add('b', { maxPending: 2 })).outcome, 'added')
      assert.equal((await s.add('c', { maxPending: 2 })).outcome, 'full')
    },
  },
  {
    id: 'transfer.drop.as-listed',
    title: 'rows that are unchanged since they were listed are dropped, and are missing then',
    needs,
    async run(s) {
      await imported(s, rowsOfAllStates(s.now()))
      const rows = await stored(s)
      const dropped = async (): Promise<readonly string[]> =>
        await transferVerbs(s).dropRows(s.queue, rows)
      assert.deepEqual(
        await dropped(),
        rows.map(() => 'dropped'),
      )
      assert.deepEqual(await stored(s), [])
      assert.deepEqual(
        await dropped(),
        rows.map(() => 'missing'),
      )
      assert.equal((await s.add('idle')).failures, 0)
    },
  },
  {
    id: 'transfer.drop.changed',
    title: 'a row that has changed since it was listed stays',
    needs,
    async run(s) {
      const asked = ['failed', 'item', 'later', 'parked', 'priority', 'trace']
      await s.addAll([...asked, s.ask('failed again', { failed: true })])
      await s.cancel('failed again')
      const rows = await stored(s)
      for (const claim of (await s.claim({ limit: 9 })).claims) {
        await (claim.key === 'parked' ? s.parkHeld(claim) : s.release(claim))
      }
      await s.add('failed', { failed: true })
      await s.add('item', { item: '"new"' })
      await s.addAfter('later', 500)
      await s.add('priority', { priority: 1 })
      await s.add('trace', { trace: trace(1) })
      await s.step(1)
      await s.forget('failed again')
      await s.add('failed again', { failed: true })
      await s.cancel('failed again')
      const before = await stored(s)
      assert.deepEqual(
        await transferVerbs(s).dropRows(s.queue, rows),
        rows.map(() => 'changed'),
      )
      assert.deepEqual(await stored(s), before)
    },
  },
  {
    id: 'transfer.drop.held',
    title: 'a key that is held by now is not dropped',
    needs,
    async run(s) {
      await s.addAll([s.ask('a'), s.ask('failed', { failed: true })])
      await s.cancel('failed')
      const rows = await stored(s)
      await s.add('failed')
      const { claims } = await s.claim({ limit: 2 })
      assert.deepEqual(await transferVerbs(s).dropRows(s.queue, rows), ['changed', 'changed'])
      for (const claim of claims) {
        const { outcome, failures } = await s.done(claim)
        assert.deepEqual([outcome, failures], ['idle', claim.failures])
      }
    },
  },
  {
    id: 'transfer.drop.one-queue',
    title: 'a key of the same name in another queue is not dropped',
    needs,
    async run(s) {
      await s.add('a')
      await s.on('other').add('a')
      const rows = await stored(s)
      assert.deepEqual(await transferVerbs(s).dropRows(s.queue, rows), ['dropped'])
      assert.deepEqual(await s.on('other').claimKeys(), ['a'])
    },
  },
  {
    id: 'transfer.buckets',
    title: 'imported buckets continue from their state, and do not affect stored buckets',
    needs,
    async run(s) {
      const now = s.now()
      await s.add('mine', { plan: planOn('queue:q') })
      const rows = [bucket('queue:other', now, 0), bucket('queue:q', now, -100)]
      assert.deepEqual(await transferVerbs(s).importBuckets(rows), ['imported', 'unchanged'])
      assert.deepEqual(await transferVerbs(s).importBuckets(rows), ['unchanged', 'unchanged'])
      assert.equal((await s.on('other').add('a', { plan: planOn('queue:other') })).plannedMs, 1_000)
      assert.equal((await s.add('b', { plan: planOn('queue:q') })).plannedMs, 0)
    },
  },
  {
    id: 'transfer.restart',
    title: 'imported rows and raised tokens survive a restart',
    needs: { ...needs, durable: true },
    async run(s) {
      const rows = rowsOfAllStates(s.now())
      await imported(s, rows)
      const floor = (await transferVerbs(s).lastToken()) + 2 ** 40
      await transferVerbs(s).raiseTokens(floor)
      const next = await s.restart()
      assert.deepEqual((await stored(next)).map(meant), rows.map(meant))
      assert.ok((await next.claimOne()).token > floor)
    },
  },
]
