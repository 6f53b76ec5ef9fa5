import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test, vi } from 'vitest'
import { Backoff, type BackoffOptions, exponentialBackoff } from '../src/index.ts'
import { question, settle, timeout } from './support/condition.ts'

describe('exponentialBackoff', () => {
  function tried(options: BackoffOptions, holdsAtMs?: number) {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock, holdsAtMs)
    const backoff = new Backoff(options)
    const promise = exponentialBackoff(backoff, condition, { clock })
    return { clock, backoff, askedMs, promise }
  }

  test('tries as often as there are steps, and does not pause after the last', async () => {
    const { clock, askedMs, promise } = tried({ durationMs: 10, factor: 2, steps: 4 })
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 70 })
    expect(askedMs).toEqual([0, 10, 30, 70])
  })

  test('resolves as soon as the condition holds', async () => {
    const { clock, askedMs, promise } = tried({ durationMs: 10, factor: 2, steps: 9 }, 30)
    expect(await settle(clock, promise)).toEqual({ outcome: 'resolved', endedMs: 30 })
    expect(askedMs).toEqual([0, 10, 30])
  })

  test('a Backoff of another copy of this package counts, and what is none is named', async () => {
    vi.resetModules()
    const other = await import('../src/index.ts')
    expect(other.Backoff).not.toBe(Backoff)
    const condition = vi.fn(() => true)
    await exponentialBackoff(new other.Backoff({ durationMs: 10, steps: 1 }) as Backoff, condition)
    expect(condition).toHaveBeenCalledOnce()
    await expect(exponentialBackoff({} as Backoff, condition)).rejects.toThrow(
      'backoff.copy must be a function; got undefined',
    )
  })

  test('without steps nothing is tried', async () => {
    for (const steps of [0, -1]) {
      const { askedMs, promise } = tried({ durationMs: 10, steps })
      await expect(promise).rejects.toMatchObject(timeout)
      expect(askedMs).toEqual([])
    }
  })

  test('an error of the condition ends it, as it is', async () => {
    const error = new Error('no such thing')
    for (const condition of [
      () => {
        throw error
      },
      () => Promise.reject(error),
    ]) {
      const backoff = new Backoff({ durationMs: 10, steps: 3 })
      await expect(exponentialBackoff(backoff, condition)).rejects.toBe(error)
    }
  })

  test('{50 ms, 2, 10 steps, cap 150 ms} is 2 tries, 150 ms, timed out', async () => {
    const options = { durationMs: 50, factor: 2, steps: 10, capMs: 150 }
    const { clock, askedMs, promise } = tried(options)
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 150 })
    expect(askedMs).toEqual([0, 50])
  })

  test('with endsAtCap false it goes on at the cap until the steps are used up', async () => {
    const options = { durationMs: 50, factor: 2, steps: 5, capMs: 150, endsAtCap: false }
    const { clock, askedMs, promise } = tried(options)
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 450 })
    expect(askedMs).toEqual([0, 50, 150, 300, 450])
  })

  test('the backoff that was given is not stepped', async () => {
    const { clock, backoff, promise } = tried({ durationMs: 10, factor: 2, steps: 4 })
    await settle(clock, promise)
    expect([backoff.steps, backoff.durationMs]).toEqual([4, 10])
  })

  test('aborted before, it does not try', async () => {
    const { askedMs, condition } = question(fakeClock())
    const signal = AbortSignal.abort(new Error('over'))
    const backoff = new Backoff({ durationMs: 10, steps: 3 })
    await expect(exponentialBackoff(backoff, condition, { signal })).rejects.toThrow('over')
    expect(askedMs).toEqual([])
  })

  test('aborted in a pause, it ends at once with the reason', async () => {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock)
    const controller = new AbortController()
    const backoff = new Backoff({ durationMs: 100, steps: 3 })
    const promise = exponentialBackoff(backoff, condition, { clock, signal: controller.signal })
    clock.startTimer(150, () => controller.abort(new Error('over')))
    const { outcome, endedMs } = await settle(clock, promise)
    expect([outcome, endedMs]).toMatchObject([{ message: 'over' }, 150])
    expect([askedMs, clock.waiters()]).toEqual([[0, 100], 0])
  })

  test('aborted by the condition, it does not try again', async () => {
    const controller = new AbortController()
    const condition = vi.fn(() => {
      controller.abort(new Error('over'))
      return false
    })
    const backoff = new Backoff({ durationMs: 10, steps: 3 })
    const promise = exponentialBackoff(backoff, condition, { signal: controller.signal })
    await expect(promise).rejects.toThrow('over')
    expect(condition).toHaveBeenCalledOnce()
  })

  test('jitter comes from the source of the backoff', async () => {
    const options = { durationMs: 100, factor: 1, steps: 3, jitter: 1, random: () => 0.5 }
    const { clock, askedMs, promise } = tried(options)
    await settle(clock, promise)
    expect(askedMs).toEqual([0, 150, 300])
  })
})
