import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { exponentialBackoffManager, jitteredBackoffManager } from '../src/index.ts'

test('jittered: always the same, longer by a share of jitter', () => {
  const chances = [0, 0.5, 0.999]
  const manager = jitteredBackoffManager({
    durationMs: 100,
    jitter: 0.5,
    random: () => chances.shift()!,
  })
  expect([manager.nextMs(), manager.nextMs(), manager.nextMs()]).toEqual([100, 125, 149.95])
})

test('jittered: without a factor, or with one below zero, there is none', () => {
  for (const jitter of [undefined, 0, -1]) {
    const manager = jitteredBackoffManager({ durationMs: 100, jitter, random: () => 0.5 })
    expect([manager.nextMs(), manager.nextMs()]).toEqual([100, 100])
  }
})

function exponential(options: { jitter?: number; maxMs?: number; factor?: number } = {}) {
  const clock = fakeClock()
  const manager = exponentialBackoffManager({
    initialMs: 1,
    maxMs: 100,
    resetMs: 10,
    factor: 2,
    clock,
    random: () => 0.5,
    ...options,
  })
  return { clock, manager }
}

test('exponential: grows to its maximum, then starts over after an idle while', async () => {
  const { clock, manager } = exponential()
  const seen: number[] = []
  for (let call = 0; call < 9; call += 1) {
    seen.push(manager.nextMs())
    await clock.step(4)
  }
  expect(seen).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100])
  await clock.step(11 - 4)
  expect(manager.nextMs()).toBe(1)
  await clock.step(10)
  expect(manager.nextMs()).toBe(2)
  await clock.step(11)
  expect(manager.nextMs()).toBe(1)
})

test('exponential: idle from the beginning is idle, too, and changes nothing', async () => {
  const { clock, manager } = exponential()
  await clock.step(1_000)
  expect([manager.nextMs(), manager.nextMs()]).toEqual([1, 2])
})

test('exponential: at the maximum there is still jitter', () => {
  const { manager } = exponential({ jitter: 1, maxMs: 3 })
  expect(Array.from({ length: 4 }, () => manager.nextMs())).toEqual([1.5, 3, 4.5, 4.5])
})

test('exponential: without a maximum it grows to ten years', () => {
  for (const maxMs of [0, Infinity]) {
    const { manager } = exponential({ maxMs, factor: 1e6 })
    expect(Array.from({ length: 4 }, () => manager.nextMs())).toEqual([
      1, 1e6, 315_576_000_000, 315_576_000_000,
    ])
  }
})

test('both measure with the clock of the runtime unless they are given one', () => {
  const clock = fakeClock()
  expect(jitteredBackoffManager({ durationMs: 1, clock }).clock).toBe(clock)
  const options = { initialMs: 1, maxMs: 2, resetMs: 3, factor: 2 }
  expect(exponentialBackoffManager({ ...options, clock }).clock).toBe(clock)
  const real = exponentialBackoffManager(options)
  expect(real.clock).toBe(jitteredBackoffManager({ durationMs: 1 }).clock)
  expect([real.nextMs(), real.nextMs()]).toEqual([1, 2])
})
