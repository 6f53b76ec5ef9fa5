import assert from 'node:assert/strict'
import type { AskReply, Finish, FinishReply, TransferRow } from '@sluice/core/driver'
import { never, transitions } from '@sluice/core/driver'
import { describe, expect, test } from 'vitest'
import { type Acknowledged, Journal } from '../src/journal.ts'
import { ask } from './support/asks.ts'

const added: AskReply = { outcome: 'added', dueAt: 5, failures: 0 }
const when = (lastSeq: number, primary = 'one', at = 0): Acknowledged => ({
  primary,
  by: primary,
  now: 5,
  lastSeq,
  at,
})
const done = (key: string, token: number): Finish => ({ as: 'done', key, token, forget: true })
const retry = (key: string, token: number): Finish => ({ as: 'retry', key, token, delayMs: 9 })
const idle: FinishReply = { outcome: 'idle', dueAt: never, failures: 0 }
const delayed: FinishReply = { outcome: 'delayed', dueAt: 14, failures: 1 }

function keysOf(journal: Journal, primary = 'other'): string[] {
  return journal.unconfirmed(primary).runs.map(({ row }) => row.key)
}

describe('the journal of a queue', () => {
  test('an add that the store made after a finish stays, even if its reply is noted first', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], when(1))
    journal.noteAdds([ask('a')], [added], when(7))
    journal.noteFinishes([done('a', 100)], [idle], when(6))
    assert.deepEqual(keysOf(journal), ['a'])
    journal.noteFinishes([done('a', 101)], [idle], when(8))
    assert.deepEqual(keysOf(journal), [])
  })

  test('every finish of a key is repeated by its own token', () => {
    const journal = new Journal()
    journal.noteFinishes([retry('a', 100)], [delayed], when(2))
    journal.noteFinishes([done('a', 101)], [idle], when(3))
    const { finishes } = journal.unconfirmed('other')
    assert.deepEqual(
      finishes.map(({ finish }) => [finish.as, finish.token]),
      [
        ['retry', 100],
        ['done', 101],
      ],
    )
  })

  test('what is cancelled goes, except for what was added afterwards', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a'), ask('b'), ask('c')], [added, added, added], when(3))
    journal.noteFinishes([retry('d', 100)], [delayed], when(4))
    journal.noteAdds([ask('b')], [added], when(6))
    journal.discard(['a', 'b', 'd'], 5)
    assert.deepEqual(keysOf(journal).sort(), ['b', 'c'])
    // The claim has ended all the same.
    assert.deepEqual(journal.unconfirmed('other').finishes[0]?.finish.as, 'done')
    journal.discard(undefined, 6)
    assert.deepEqual(keysOf(journal), [])
  })

  test('only what the primary itself has acknowledged is confirmed or expires', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], when(1, 'one', 0))
    journal.noteAdds([ask('b')], [added], when(2, 'two', 10))
    journal.confirmed('two', 2)
    journal.expired('two', 1_000)
    assert.deepEqual(keysOf(journal, 'two'), ['a'])
    journal.expired('one', 0)
    assert.deepEqual(keysOf(journal, 'two'), ['a'])
    journal.expired('one', 1)
    assert.ok(journal.isEmpty)
  })

  test('what the new primary of a slot that moves has answered is confirmed by its own replicas', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], { ...when(1, 'two'), tabled: 'one' })
    assert.deepEqual(keysOf(journal, 'one'), [])
    journal.confirmed('one', 1)
    // The old one has no replicas, which says nothing of the new one.
    journal.expired('one', 1_000)
    // The new one has failed, and its replica, which may not have the write, has the slot.
    assert.deepEqual(keysOf(journal, 'three'), ['a'])
    journal.confirmed('two', 1)
    assert.ok(journal.isEmpty)
  })

  test('a journal that is full of what a primary without replicas has answered is halved while its slot moves', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], { ...when(1, 'two'), tabled: 'one' })
    journal.noteAdds([ask('b')], [added], when(2, 'two'))
    journal.halve('one')
    assert.deepEqual(keysOf(journal, 'three'), ['b'])
  })

  test('what was repeated is confirmed by the replicas of the new primary', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], when(1))
    const { nth } = journal.unconfirmed('two')
    // A reply of the old primary that arrives now is repeated the next time.
    journal.noteAdds([ask('late')], [added], when(2))
    journal.repeated('two', nth, 50)
    assert.deepEqual(keysOf(journal, 'two'), ['late'])
    journal.confirmed('two', nth)
    assert.deepEqual(keysOf(journal, 'three').sort(), ['a', 'late'])
  })

  test('a pending key that is added again is one entry, which is as new as the last add', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], when(1))
    journal.noteAdds([ask('a')], [{ ...added, outcome: 'unchanged' }], when(9, 'one', 50))
    journal.confirmed('one', 1)
    journal.expired('one', 50)
    const { runs } = journal.unconfirmed('other')
    assert.deepEqual(
      runs.map(({ row, lastSeq }) => [row.key, row.seq, lastSeq]),
      [['a', 1, 9]],
    )
  })

  test('a delayed run of a key that is due already is repeated, too', () => {
    const journal = new Journal()
    const delayedAsk = { ...ask('a'), delayMs: 60_000 }
    journal.noteAdds([delayedAsk], [added], when(1))
    const [{ row } = assert.fail()] = journal.unconfirmed('other').runs
    assert.deepEqual([row.dueAt, row.laterAt, row.laterWhy], [5, 60_005, 'delay'])
  })

  test('a finish without a reply is repeated as it was, until a primary has answered', () => {
    const journal = new Journal()
    journal.noteUnanswered([retry('a', 100)], 0)
    assert.deepEqual(journal.unconfirmed('one').finishes[0]?.finish, retry('a', 100))
    assert.equal(journal.unconfirmed('one').finishes[0]?.dueAt, undefined)
    journal.repeated('one', journal.nth, 1)
    assert.deepEqual(journal.unconfirmed('one').finishes, [])
  })

  test('of very many finishes the newest are kept, and adds do not wait for them', () => {
    const journal = new Journal()
    for (let token = 1; token <= 100_010; token += 1)
      journal.noteFinishes([done(`k${token}`, token)], [idle], when(token))
    const { finishes } = journal.unconfirmed('other')
    assert.ok(finishes.length >= 50_000 && finishes.length <= 100_000)
    assert.equal(finishes.at(-1)?.finish.token, 100_010)
    assert.ok(!journal.isFull)
  })

  test('errors of failed runs count towards the memory of a journal', () => {
    const journal = new Journal()
    const error = 'e'.repeat(4_000)
    for (let token = 1; token <= 20_000; token += 1)
      journal.noteFinishes([{ ...retry('a', token), error } as Finish], [delayed], when(token))
    const { finishes } = journal.unconfirmed('other')
    assert.ok(finishes.length < 10_000 && finishes.at(-1)?.finish.token === 20_000)
  })

  test('a full journal without replicas keeps the newer half', () => {
    const journal = new Journal()
    for (let seq = 1; seq <= 100_000; seq += 1)
      journal.noteAdds([ask(`k${seq}`)], [added], when(seq))
    assert.ok(journal.isFull)
    journal.halve('one')
    assert.ok(!journal.isFull)
    const left = keysOf(journal)
    assert.ok(left.length > 49_000 && left.length < 51_000 && left.at(-1) === 'k100000')
  })

  /** The only run of a journal, as another primary would get it. */
  function onlyRun(journal: Journal): TransferRow {
    const { runs } = journal.unconfirmed('other')
    assert.equal(runs.length, 1)
    return runs[0]?.row ?? assert.fail()
  }
  const unchanged: AskReply = { ...added, outcome: 'unchanged' }

  test('the item and the trace of the last add are repeated, also where it was merged', () => {
    const journal = new Journal()
    const traces = ['00-1-1-01', '00-2-2-01']
    journal.noteAdds([{ ...ask('a'), item: '1' }], [added], when(1))
    journal.noteAdds([{ ...ask('a'), item: '2', trace: traces[0] }], [unchanged], when(2))
    assert.deepEqual([onlyRun(journal).item, onlyRun(journal).trace], ['2', traces[0]])
    journal.noteAdds([{ ...ask('a'), item: '2', trace: traces[1] }], [unchanged], when(3, 'two'))
    const merged = transitions.mergeTraces(traces[0], traces[1])
    assert.deepEqual([onlyRun(journal).item, onlyRun(journal).trace], ['2', merged])
  })

  test('the process that has drawn the last number is that of the last add', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a')], [added], when(1))
    journal.noteAdds([ask('a')], [unchanged], { ...when(9), by: 'restarted' })
    const [{ lastSeq, by } = assert.fail()] = journal.unconfirmed('other').runs
    assert.deepEqual([lastSeq, by], [9, 'restarted'])
  })

  test('a delayed run that was asked for before an add is repeated as the second, however often it is added', () => {
    const journal = new Journal()
    const delayedAsk = { ...ask('a'), delayMs: 60_000 }
    journal.noteAdds([delayedAsk], [{ ...added, dueAt: 60_005 }], when(1))
    journal.noteAdds([ask('a')], [{ ...added, outcome: 'moved' }], when(2))
    const both = { dueAt: 5, why: 'add', laterAt: 60_005, laterWhy: 'delay' } as const
    expect(onlyRun(journal)).toMatchObject(both)
    journal.noteAdds([{ ...ask('a'), item: 'new' }], [unchanged], when(3))
    expect(onlyRun(journal)).toMatchObject({ ...both, item: 'new' })
    // As in the store, the earlier of two delays stays.
    journal.noteAdds([{ ...ask('a'), delayMs: 90_000 }], [unchanged], when(4))
    expect(onlyRun(journal)).toMatchObject(both)
    journal.noteAdds([{ ...ask('a'), delayMs: 30_000, failed: true }], [unchanged], when(5))
    expect(onlyRun(journal)).toMatchObject({
      ...both,
      laterAt: 30_005,
      laterWhy: 'backoff',
    })
  })

  test('what is still pending after a finish is repeated, and all of it after one that has come too late', () => {
    const journal = new Journal()
    const lost: FinishReply = { outcome: 'lost', dueAt: never, failures: 0 }
    journal.noteAdds([ask('a')], [added], when(1))
    journal.noteFinishes([done('a', 100)], [lost], when(2))
    assert.deepEqual(keysOf(journal), ['a'])
    assert.deepEqual(journal.unconfirmed('other').finishes, [])
    journal.noteAdds([{ ...ask('a'), delayMs: 60_000 }], [unchanged], when(3))
    journal.noteFinishes([done('a', 101)], [{ ...idle, outcome: 'ready', dueAt: 4 }], when(6))
    expect(onlyRun(journal)).toMatchObject({ dueAt: 4, laterAt: 60_005, seq: 6 })
    // The second run is the next one now.
    journal.noteFinishes([done('a', 102)], [{ ...delayed, dueAt: 60_005 }], when(7))
    expect(onlyRun(journal)).toMatchObject({ dueAt: 60_005, laterAt: never })
  })

  test('a finish of another key than those that are cancelled is repeated as it was, and so is a later one', () => {
    const journal = new Journal()
    journal.noteFinishes([retry('a', 100), retry('b', 101)], [delayed, delayed], when(4))
    journal.noteFinishes([retry('a', 102)], [delayed], when(6))
    journal.discard(['a'], 5)
    const { finishes } = journal.unconfirmed('other')
    assert.deepEqual(finishes.map(({ finish }) => [finish.as, finish.token]).sort(), [
      ['done', 100],
      ['retry', 101],
      ['retry', 102],
    ])
  })

  test('a run that is pending keeps its priority and the time of its first add', () => {
    const journal = new Journal()
    journal.noteAdds([ask('a', 9)], [added], when(1))
    const next = { ...when(2), now: 8 }
    journal.noteAdds([{ ...ask('a'), item: 'new' }], [unchanged], next)
    expect(onlyRun(journal)).toMatchObject({ item: 'new', priority: 9, askedAt: 5 })
    journal.noteAdds([{ ...ask('a', 1), delayMs: 9 }], [added], next)
    expect(onlyRun(journal)).toMatchObject({ priority: 9, askedAt: 5, laterAt: 17 })
    // The key is held: this is its next run.
    journal.noteAdds([ask('a', 1)], [added], next)
    expect(onlyRun(journal)).toMatchObject({ priority: 1, askedAt: 8 })
  })

  test('a run that is delayed keeps them too when it is added at once', () => {
    const journal = new Journal()
    const later: AskReply = { ...added, dueAt: 60_005 }
    journal.noteAdds([{ ...ask('a', 9), delayMs: 60_000 }], [later], when(1))
    journal.noteAdds([ask('a', 1)], [{ ...added, dueAt: 8 }], { ...when(2), now: 8 })
    const run = { priority: 9, askedAt: 5, dueAt: 8, laterAt: 60_005 }
    expect(onlyRun(journal)).toMatchObject(run)
  })
})
