import { expect, test } from 'vitest'
import { PrefetchAmount } from '../../src/batched/claims/prefetch-amount.ts'

/** After 32 runs, and 32 claims of which some took long. */
function measured(short: number, long: number, longMs: number, runMs = 1): PrefetchAmount {
  const amount = new PrefetchAmount('auto', 5_000)
  for (let run = 0; run < 32; run += 1) amount.noteRun(runMs)
  for (let claim = 0; claim < short; claim += 1) amount.noteClaim(5, 10)
  for (let claim = 0; claim < long; claim += 1) amount.noteClaim(longMs, 10)
  return amount
}

test('claims ahead for two round trips of which nine in ten are no longer', () => {
  expect(measured(32, 0, 0).of(4)).toBe(40 + 4)
  expect(measured(28, 4, 20).of(4)).toBe(160 + 4)
  expect(measured(28, 4, 20).withFinishing(4)).toBe(2 * (160 + 4))
})

test('of slow handlers claims ahead twice the mean, and none of slower ones', () => {
  expect(measured(32, 0, 0, 40).of(4)).toBe(2)
  expect(measured(32, 0, 0, 100).of(4)).toBe(0)
})

test('three long claims of 32 change nothing', () => {
  expect(measured(29, 3, 500).of(4)).toBe(40 + 4)
})

test('claims nothing ahead before 32 runs and a claim were measured', () => {
  const amount = new PrefetchAmount('auto', 5_000)
  for (let run = 0; run < 31; run += 1) amount.noteRun(1)
  amount.noteClaim(5, 10)
  expect([amount.of(4), amount.withFinishing(4)]).toEqual([0, 0])
  amount.noteRun(1)
  expect(amount.of(4)).toBe(40 + 4)
  const unclaimed = new PrefetchAmount('auto', 5_000)
  for (let run = 0; run < 32; run += 1) unclaimed.noteRun(1)
  expect(unclaimed.of(4)).toBe(0)
})

test('the latest 32 runs count, and the latest 32 claims, in any order', () => {
  const amount = measured(0, 32, 500, 1_000)
  for (let run = 0; run < 32; run += 1) amount.noteRun(1)
  for (let claim = 0; claim < 32; claim += 1) amount.noteClaim(claim === 28 ? 500 : 5, 10)
  expect(amount.of(4)).toBe(40 + 4)
})

test('claims ahead at most a thousand keys, also of handlers that take no time', () => {
  for (const amount of [measured(32, 0, 0, 0), measured(0, 32, 50)]) {
    expect([amount.of(100), amount.withFinishing(100)]).toEqual([1_000, 2_000])
  }
})

test('how long a key is kept follows from the median', () => {
  expect(measured(20, 12, 500).keepMs).toBe(100)
  expect(measured(12, 20, 500).keepMs).toBe(2_500)
})

test('claims ahead what arrives in time, by the claim of the latest 32 that brought its keys fastest', () => {
  const amount = measured(0, 0, 0)
  for (let claim = 0; claim < 32; claim += 1) amount.noteClaim(claim === 7 ? 2_000 : 4_000, 10)
  expect(amount.of(10)).toBe(25)
  for (let claim = 0; claim < 8; claim += 1) amount.noteClaim(4_000, 10)
  expect(amount.of(10)).toBe(12)
})
