import type { WorkCounts } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { type FailedAttempt, UnsentWork } from '../../src/worker/unsent-work.ts'

/** The totals of workers whose runs have all failed. */
function totals(failed: number): WorkCounts {
  return { started: failed, done: 0, failed, added: failed, merged: 0, expired: 0 }
}

function failedRun(at: number, code: string): FailedAttempt {
  return { at, key: `k${at}`, code, failures: 0, text: '{"name":"Error","message":"no"}' }
}

/** Work with a failed run of each of these codes, one per millisecond from `from` on. */
function fail(work: UnsentWork, codes: readonly string[], from = 1): UnsentWork {
  for (const [index, code] of codes.entries()) work.failed(failedRun(from + index, code))
  return work
}

/** A record in short: its count of failed runs, its codes, and when those runs ended that it has. */
function inShort({ failed, codes, failedRuns }: ReturnType<UnsentWork['take']>) {
  return { failed, codes, at: failedRuns.map(({ at }) => at) }
}

describe('a record of the work of workers', () => {
  test('has what came after the last one, the failed runs in the order in which they ended', () => {
    const work = fail(new UnsentWork(), ['A', 'B', 'A'])
    expect(inShort(work.take(totals(3), 'me'))).toEqual({
      failed: 3,
      codes: [
        ['A', 2],
        ['B', 1],
      ],
      at: [1, 2, 3],
    })
    expect(inShort(work.take(totals(3), 'me'))).toEqual({ failed: 0, codes: [], at: [] })
    fail(work, ['B'], 4)
    expect(inShort(work.take(totals(4), 'me'))).toEqual({ failed: 1, codes: [['B', 1]], at: [4] })
  })

  test('has what was put back, which came before', () => {
    const work = fail(new UnsentWork(), ['A', 'B', 'A'])
    work.take(totals(3), 'me')
    fail(work, ['A', 'B'], 4)
    const lost = work.take(totals(5), 'me')
    fail(work, ['A'], 6)
    work.putBack(lost)
    expect(inShort(work.take(totals(6), 'me'))).toEqual({
      failed: 3,
      codes: [
        ['A', 2],
        ['B', 1],
      ],
      at: [4, 5, 6],
    })
    // Once: the record that had it may have arrived.
    expect(inShort(work.take(totals(6), 'me'))).toEqual({ failed: 0, codes: [], at: [] })
  })

  test('tells no more than 64 codes apart, and counts those on', () => {
    const codes = Array.from({ length: 64 }, (_, index) => `E${index}`)
    const work = fail(new UnsentWork(), [...codes, 'late', 'late', 'late', 'E7', 'late'])
    const { codes: counts, failedRuns } = work.take(totals(69), 'me')
    expect(counts[0]).toEqual(['E7', 2])
    expect(counts.map(([code]) => code)).not.toContain('late')
    expect(failedRuns.map(({ code }) => code)).not.toContain('late')
  })
})
