import { expect, test } from 'vitest'
import { durationWords } from '../src/inspect/explain.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

test.each([
  [0, '0 ms'],
  [0.2, '1 ms'],
  [999, '999 ms'],
  [1_280, '1.2 s'],
  [59_999, '59.9 s'],
  [minute, '1 min'],
  [minute + 5_900, '1 min 5 s'],
  [hour - 1, '59 min 59 s'],
  [2 * hour + 5 * minute + 59_000, '2 h 5 min'],
  [day, '1 d'],
  [day + hour - 1, '1 d'],
  [10 * 365 * day, '3650 d'],
])('%f ms are %s', (ms, words) => {
  expect(durationWords(ms)).toBe(words)
})
