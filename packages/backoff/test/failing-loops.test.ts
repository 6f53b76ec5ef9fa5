import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test, vi } from 'vitest'
import { backoffUntil, nonSlidingUntil, until } from '../src/index.ts'
import { controlled, diary, fail, stepSeconds } from './support/loops.ts'

describe('when the function fails', () => {
  test.each([
    ['throws', () => fail()],
    ['rejects', async () => fail()],
  ])('by default the loop reports the error and rejects with it: %s', async (_, fn) => {
    const clock = fakeClock()
    const reported: unknown[] = []
    const report = (error: unknown) => reported.push(error)
    for (const loop of [until, nonSlidingUntil]) {
      await expect(loop(fn, 1_000, { clock, report })).rejects.toThrow('broken')
    }
    expect(reported).toMatchObject([{ message: 'broken' }, { message: 'broken' }])
    expect(clock.waiters()).toBe(0)
  })

  test("with 'continue' it reports the error, waits as usual and goes on", async () => {
    const clock = fakeClock()
    const reported: unknown[] = []
    const { signal, abort } = controlled()
    const { starts, fn } = diary(clock)
    const loop = until(
      async () => {
        await fn()
        if (starts.length === 2) fail()
      },
      1_000,
      { signal, clock, onError: 'continue', report: (error) => reported.push(error) },
    )
    await stepSeconds(clock, 3)
    abort()
    await loop
    expect(starts).toEqual([0, 1, 2, 3])
    expect(reported).toHaveLength(1)
  })

  test("with 'continue' and nobody to report to, the console gets it", async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      const clock = fakeClock()
      const { signal, abort } = controlled()
      const loop = until(fail, 1_000, { signal, clock, onError: 'continue' })
      await clock.step(0)
      abort()
      await loop
      expect(written).toHaveBeenCalledOnce()
      expect(written.mock.calls[0]?.[1]).toMatchObject({ message: 'broken' })
      written.mockClear()
      await expect(until(fail, 1_000, { clock })).rejects.toThrow('broken')
      expect(written).not.toHaveBeenCalled()
    } finally {
      written.mockRestore()
    }
  })

  test.each([
    ['throws', fail],
    ['rejects', (() => Promise.reject(new Error('broken'))) as () => void],
  ])('a report that %s changes nothing, and its error is printed', async (_, report) => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      const clock = fakeClock()
      const { signal, abort } = controlled()
      const own = new Error('of the function')
      let runs = 0
      const fn = () => {
        runs += 1
        throw own
      }
      await expect(until(fn, 1_000, { clock, report })).rejects.toBe(own)
      const loop = until(fn, 1_000, { signal, clock, onError: 'continue', report })
      await stepSeconds(clock, 1)
      abort()
      await loop
      expect(runs).toBe(3)
      expect(written).toHaveBeenCalledTimes(3)
      expect(written.mock.calls[0]).toContain(own)
    } finally {
      written.mockRestore()
    }
  })

  test('a manager that gives no delay ends the loop', async () => {
    const clock = fakeClock()
    const manager = { clock, nextMs: () => Number.NaN }
    await expect(backoffUntil(() => {}, manager)).rejects.toMatchObject({
      parameter: 'manager.nextMs()',
    })
  })
})
