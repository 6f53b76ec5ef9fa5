import assert from 'node:assert/strict'
import { test } from 'vitest'
import { failoverFigures } from '../../support/failovers/failover-figures.ts'
import type { MemberRecord } from '../../support/failovers/failover-processes.ts'
import { failoverProblems } from '../../support/failovers/failover-run.ts'
import type { Line } from '../../support/witness/record.ts'

const member = (record: readonly Line[], wasKilled = false): MemberRecord => ({ record, wasKilled })

function added(add: number, key: string): Line[] {
  return [
    { what: 'sent', at: add, add, key },
    { what: 'acknowledged', at: add, add },
  ]
}

function run(key: string, token: number, from: number, until: number, crashes = 0): Line[] {
  return [
    { what: 'began', at: from, key, token, crashes },
    { what: 'ended', at: until, key, token, isAborted: false },
  ]
}

const nothing = {
  acknowledgedAdds: 0,
  runs: 0,
  lostAdds: 0,
  lostAddsOfKilled: 0,
  runsAfterFinish: 0,
  runsAgain: 0,
  aborted: 0,
  overlaps: 0,
  overlapMsMax: 0,
  tokensOutOfOrder: 0,
  crashes: 0,
}

test('keys that ran once have no figures of trouble', () => {
  const records = [member([...added(1, 'a'), ...run('a', 7, 10, 20)])]
  assert.deepEqual(failoverFigures(records), { ...nothing, acknowledgedAdds: 1, runs: 1 })
})

test('adds are lost whose keys never ran, apart for processes that were killed', () => {
  const records = [member(added(1, 'a')), member(added(1, 'b'), true)]
  const figures = failoverFigures(records)
  const expected = { ...nothing, acknowledgedAdds: 2, lostAdds: 1, lostAddsOfKilled: 1 }
  assert.deepEqual(figures, expected)
  assert.match(
    failoverProblems({ ...figures, acknowledgedAdds: 100, unaskedFailovers: 0 }).join(),
    /1 acknowledged adds/,
  )
})

test('two runs of a key at a time, and their order of tokens, are seen across processes', () => {
  const records = [
    member([...added(1, 'a'), ...run('a', 7, 100, 200)]),
    member([...run('a', 6, 150, 160, 1), { what: 'finished', at: 170, key: 'a', token: 6 }]),
    member(run('a', 8, 300, 310)),
  ]
  const figures = failoverFigures(records)
  assert.deepEqual(figures, {
    ...nothing,
    acknowledgedAdds: 1,
    runs: 3,
    runsAgain: 2,
    runsAfterFinish: 1,
    overlaps: 1,
    overlapMsMax: 50,
    tokensOutOfOrder: 1,
    crashes: 1,
  })
  const asked = { ...figures, acknowledgedAdds: 100, unaskedFailovers: 0 }
  assert.equal(failoverProblems(asked).length, 2)
  assert.match(
    failoverProblems({ ...asked, unaskedFailovers: 1 }).join(),
    /replaced 1 primaries that nothing had killed/,
  )
})

test('a run that was not ended lasts as long as its process', () => {
  const records = [
    member([{ what: 'began', at: 10, key: 'a', token: 1 }, ...added(100, 'b')], true),
    member(run('a', 2, 50, 60)),
  ]
  assert.equal(failoverFigures(records).overlapMsMax, 50)
})
