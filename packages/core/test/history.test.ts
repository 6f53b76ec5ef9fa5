import { expect, test } from 'vitest'
import {
  addCodes,
  historyCodesMax,
  historyResolutions,
  RecordedHistory,
  type WorkRecord,
} from '../src/driver/index.ts'

const record: WorkRecord = {
  ...{ started: 1, done: 1, failed: 0, added: 0, merged: 0, expired: 0 },
  codes: [],
  failedRuns: [],
}
const depth = {
  ready: 0,
  delayed: 0,
  held: 0,
  parked: 0,
  oldestMs: 0,
  capped: false,
  paused: false,
}

test.each(historyResolutions)(
  'of steps of $stepMs ms, $steps stay in memory',
  ({ stepMs, steps }) => {
    const history = new RecordedHistory()
    for (const at of [0, stepMs, stepMs * steps]) history.record(record, at, () => depth)
    // At the time of the first record, when no step is too old to be shown: one that is missing was dropped.
    const kept = history.steps(stepMs, 0).map(({ at }) => at)
    expect(kept).toEqual([stepMs, stepMs * steps])
  },
)

test('there are no steps of another length', () => {
  const history = new RecordedHistory()
  history.record(record, 0, () => depth)
  expect(history.steps(1, 0)).toEqual([])
})

test('codes are sorted by their counts, then by their bytes, and the rarest are dropped', () => {
  const sum = addCodes(
    [
      ['b', 1],
      ['c', 2],
    ],
    [
      ['c', 1],
      ['d', 2],
      ['a', 1],
    ],
  )
  expect(sum).toEqual([
    ['c', 3],
    ['d', 2],
    ['a', 1],
    ['b', 1],
  ])
  const many = Array.from({ length: historyCodesMax }, (_, at) => [`n${at}`, 9] as const)
  expect(addCodes(sum, many)).toEqual(many)
})
