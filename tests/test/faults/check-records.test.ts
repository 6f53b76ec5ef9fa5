import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkRecords } from '../../support/witness/check-records.ts'
import { type Line, readRecord } from '../../support/witness/record.ts'

// The checker of the torture program finds what it is for, in records that are made by hand.

const options = { pendingMsMax: 100, overlapMsMax: 10 }

function record(process: string, ...lines: readonly Line[]): readonly Line[] {
  return [{ what: 'process', at: 0, process }, ...lines]
}

const sent = (at: number, add: number, key = 'a'): Line => ({ what: 'sent', at, add, key })
const acknowledged = (at: number, add: number): Line => ({ what: 'acknowledged', at, add })
const began = (at: number, token: number, key = 'a'): Line => ({ what: 'began', at, key, token })
const ended = (at: number, token: number, key = 'a'): Line => ({ what: 'ended', at, key, token })

describe('a record without a fault', () => {
  test('has none', () => {
    const one = record('one', sent(1, 1), acknowledged(2, 1), began(5, 1), ended(6, 1))
    const two = record('two', began(20, 2), ended(30, 2))
    assert.deepEqual(checkRecords([one, two], options), [])
  })

  test('may have adds that were not acknowledged, and runs that did not end', () => {
    const one = record('one', sent(1, 1), sent(2, 2, 'b'), acknowledged(3, 2), began(4, 1, 'b'))
    assert.deepEqual(checkRecords([one], options), [])
  })
})

describe('is found:', () => {
  const found = (records: readonly (readonly Line[])[], what: RegExp): void => {
    const problems = checkRecords(records, options)
    assert.equal(problems.length, 1, problems.join('; '))
    assert.match(problems[0] ?? '', what)
  }

  test('an acknowledged add that has not run', () => {
    found([record('one', sent(1, 1), acknowledged(2, 1))], /a was added .* has not run/)
  })

  test('an acknowledged add after the last run', () => {
    const two = record('two', sent(10, 1), acknowledged(11, 1))
    found([record('one', began(5, 1), ended(6, 1)), two], /has not run/)
  })

  test('an acknowledgement of nothing', () => {
    found([record('one', acknowledged(2, 1))], /not sent/)
  })

  test('a token that two runs have', () => {
    found([record('one', began(1, 7), ended(2, 7)), record('two', began(5, 7))], /twice under/)
  })

  test('a key that runs twice at a time', () => {
    const one = record('one', began(1, 1), ended(100, 1))
    found([one, record('two', began(50, 2), ended(60, 2))], /at a time, for 50 ms/)
  })

  test('a run that begins under an older token', () => {
    const one = record('one', began(100, 1), ended(101, 1))
    found([one, record('two', began(50, 2), ended(60, 2))], /after it had begun under 2/)
  })

  test('a run of a process that was never paused, next to one that was', () => {
    const pause: Line = { what: 'paused', at: 5, until: 90, process: 'two' }
    const one = record('one', began(1, 1), ended(100, 1))
    found([one, record('two', began(50, 2)), record('parent', pause)], /at a time/)
  })

  test('a run of a process that was not held up, next to one that was', () => {
    const one = record('one', began(1, 1), ended(100, 1))
    found([one, record('two', began(50, 2), { what: 'held up', at: 90, ms: 85 })], /at a time/)
  })

  test('a key that runs twice at a time long after the machine stood still', () => {
    const stalled: Line = { what: 'stalled', at: 90, ms: 85 }
    const one = record('one', began(2_000, 1), ended(2_100, 1))
    found([one, record('two', began(2_050, 2)), record('parent', stalled)], /at a time/)
  })

  test('a promise that is pending for too long, of which two stops at once took a part', () => {
    const pending: Line = { what: 'pending', at: 200, ms: 200, call: 'add' }
    const pause: Line = { what: 'paused', at: 20, until: 90, process: 'one' }
    const parent = record('parent', pause, { what: 'stalled', at: 110, ms: 60 })
    found([record('one', pending), parent], /add was pending for 200 ms/)
  })

  test('a promise that is pending for too long, also in a process that was held up', () => {
    const pending: Line = { what: 'pending', at: 200, ms: 150, call: 'add' }
    found([record('one', { what: 'held up', at: 190, ms: 140 }, pending)], /add was pending/)
  })

  test('a promise that is pending for too long', () => {
    const pending: Line = { what: 'pending', at: 200, ms: 150, call: 'add' }
    found([record('one', pending)], /add was pending for 150 ms/)
  })

  test('a damaged line, unless it is the last one', () => {
    assert.throws(() => readRecord('{"what":"pro\n{"what":"process"}\n'), /line 1 .* damaged/)
    assert.deepEqual(readRecord('{"what":"process","at":1,"process":"one"}\n{"wha'), [
      { what: 'process', at: 1, process: 'one' },
    ])
  })
})

test('a process that was stopped is not blamed for what it could not know', () => {
  const pause: Line = { what: 'paused', at: 5, until: 90, process: 'one' }
  const pending: Line = { what: 'pending', at: 100, ms: 110, call: 'add' }
  const one = record('one', began(1, 1), ended(100, 1), pending)
  const two = record('two', began(50, 2), ended(60, 2))
  assert.deepEqual(checkRecords([one, two, record('parent', pause)], options), [])
})

test('a process that waited for a processor is not blamed for that time', () => {
  const pending: Line = { what: 'pending', at: 200, ms: 150, unservedMs: 50, call: 'add' }
  assert.deepEqual(checkRecords([record('one', pending)], options), [])
  assert.equal(checkRecords([record('one', { ...pending, unservedMs: 49 })], options).length, 1)
})

test('no process is blamed for what happened while the machine stood still', () => {
  const stalled: Line = { what: 'stalled', at: 90, ms: 85 }
  const one = record('one', began(1, 1), ended(100, 1))
  const pending: Line = { what: 'pending', at: 170, ms: 150, call: 'add' }
  const two = record('two', began(50, 2), ended(60, 2), pending)
  assert.deepEqual(checkRecords([one, two, record('parent', stalled)], options), [])
})

test('a process that was held up is not blamed for what it could not know', () => {
  const one = record('one', began(1, 1), { what: 'held up', at: 90, ms: 85 }, ended(100, 1))
  const two = record('two', began(50, 2), ended(60, 2))
  assert.deepEqual(checkRecords([one, two], options), [])
})
