import { expect, test } from 'vitest'
import {
  atLeastWords,
  conditionStatements,
  conditionWords,
  countWords,
  durationWords,
  manyWords,
  percentWords,
  rateWords,
  sinceWords,
} from '../../src/words/index.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

test.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [0.2, '<1 ms'],
  [999, '999 ms'],
  [999.6, '1.0 s'],
  [1_280, '1.3 s'],
  [9_960, '10 s'],
  [59_999, '1 min'],
  [minute + 5_400, '1 min 5 s'],
  [hour - 1, '1 h'],
  [2 * hour + 5 * minute + 29_000, '2 h 5 min'],
  [day, '1 d'],
  [3 * day + 4 * hour, '3 d 4 h'],
  [10 * 365 * day, '10.0 years'],
])('%f ms are %s', (ms, words) => {
  expect(durationWords(ms)).toBe(words)
})

test('counts have one separator of thousands', () => {
  expect([999, 1_198, 1_000_000].map(countWords)).toEqual(['999', '1,198', '1,000,000'])
  expect(atLeastWords(10_000, true)).toBe('10,000+')
  expect(atLeastWords(3, false)).toBe('3')
  expect([manyWords(1, 'key'), manyWords(2_000, 'key')]).toEqual(['1 key', '2,000 keys'])
})

test('rates and shares have significant digits, and a dash where they are unknown', () => {
  const rates = [undefined, 0, 0.001, 0.02, 2.13, 138.4, 5_200, 12_340, 123_400]
  const words = ['–', '0', '<0.01', '0.02', '2.1', '138', '5,200', '12.3k', '123k']
  expect(rates.map(rateWords)).toEqual(words)
  const shares = [undefined, 0, 0.004, 0.0949, 0.5, 1]
  expect(shares.map(percentWords)).toEqual(['–', '0 %', '0.4 %', '9.5 %', '50 %', '100 %'])
})

test('conditions have positive words, a code if they are not met, and evidence that adds something', () => {
  const code = 'QUEUE_PAUSED'
  const statement = 'Queue not paused'
  expect(conditionWords({ code, ok: true, evidence: 'it is not' })).toEqual({ statement })
  const failed = { code, ok: false, evidence: 'the queue is paused' } as const
  expect(conditionWords(failed)).toEqual({ statement, code, evidence: 'the queue is paused' })
  const busy = { code: 'WORKERS_BUSY', ok: true, evidence: '1 of 8 handlers are busy' } as const
  expect(conditionWords(busy)).toEqual({
    ...{ statement: 'A worker has a free slot', evidence: '1 of 8 handlers are busy' },
  })
  const unknown = { code: 'WAITING_TURN', ok: null, evidence: 'not asked' } as const
  expect(conditionWords(unknown)).toEqual({ statement: 'Its turn', evidence: 'not asked' })
  // Words that deny what fails read as a double negative.
  for (const words of Object.values(conditionStatements)) expect(words).not.toMatch(/^No |nobody/)
})

test.each([
  ['for 4 s', 4_300, 0, false],
  ['for 12 min', 12 * minute + 42_000, 10_000, false],
  ['for 2 h 5 min', 2 * hour + 5 * minute + 29_000, 10_000, false],
  ['for more than 5 min', 5 * minute + 3_000, 10_000, true],
  ['for about 25 min', 25 * minute, 10 * minute, false],
  ['for about 3 h', 3 * hour + 50 * minute, 10 * minute, false],
  ['for 0 ms', -5, 0, false],
])('%s', (words, ms, withinMs, orEarlier) => {
  expect(sinceWords({ at: day, withinMs, orEarlier }, day + ms)).toBe(words)
})
