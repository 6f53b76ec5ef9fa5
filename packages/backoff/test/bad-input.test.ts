import { SluiceRangeError, SluiceTypeError } from '@sluice/core'
import { expect, test } from 'vitest'
import {
  Backoff,
  backoffUntil,
  exponentialBackoff,
  exponentialBackoffManager,
  forever,
  jitter,
  jitteredBackoffManager,
  jitterUntil,
  nonSlidingUntil,
  pollUntil,
  until,
} from '../src/index.ts'

// What a program in JavaScript can pass.
type Loose = (...values: unknown[]) => unknown
const loose = (call: unknown): Loose => call as Loose
const made = (options: object) => new Backoff(options as { durationMs: 1 })

const exponential = { initialMs: 1, maxMs: 2, resetMs: 3, factor: 2 }
const manager = jitteredBackoffManager({ durationMs: 1 })
const nothing = () => {}
const never = () => false
const always = () => true
const stopped = AbortSignal.abort()
const backoff = new Backoff({ durationMs: 1, steps: 1 })
const clock = manager.clock

/** Durations and factors: a number, and not below zero. */
const amounts: readonly [string, (value: unknown) => unknown][] = [
  ['durationMs', (durationMs) => made({ durationMs })],
  ['factor', (factor) => made({ durationMs: 1, factor })],
  ['capMs', (capMs) => made({ durationMs: 1, capMs })],
  ['ms', (ms) => loose(jitter)(ms, 1)],
  ['resetMs', (resetMs) => backoff.delayWithReset(clock, resetMs as number)],
  ['durationMs', (durationMs) => loose(jitteredBackoffManager)({ durationMs })],
  ['initialMs', (initialMs) => loose(exponentialBackoffManager)({ ...exponential, initialMs })],
  ['maxMs', (maxMs) => loose(exponentialBackoffManager)({ ...exponential, maxMs })],
  ['resetMs', (resetMs) => loose(exponentialBackoffManager)({ ...exponential, resetMs })],
  ['factor', (factor) => loose(exponentialBackoffManager)({ ...exponential, factor })],
  ['periodMs', (periodMs) => loose(until)(nothing, periodMs)],
  ['periodMs', (periodMs) => loose(nonSlidingUntil)(nothing, periodMs)],
  ['periodMs', (periodMs) => loose(jitterUntil)(nothing, periodMs, 0)],
  ['periodMs', (periodMs) => loose(forever)(nothing, periodMs)],
  ['timeoutMs', (timeoutMs) => loose(pollUntil)(never, { intervalMs: 1, timeoutMs })],
]

/** Factors of jitter and counts of steps: below zero they mean none. */
const signed: readonly [string, (value: unknown) => unknown][] = [
  ['jitter', (jitter) => made({ durationMs: 1, jitter })],
  ['steps', (steps) => made({ durationMs: 1, steps })],
  ['factor', (factor) => loose(jitter)(1, factor)],
  ['jitter', (jitter) => loose(jitteredBackoffManager)({ durationMs: 1, jitter })],
  ['jitter', (jitter) => loose(exponentialBackoffManager)({ ...exponential, jitter })],
  ['jitterFactor', (factor) => loose(jitterUntil)(nothing, 1, factor)],
]

const wrong = [null, '5', 5n, {}, [], true, new Date(0), Symbol('x'), () => 5, Number.NaN]

test.each([...amounts, ...signed])('%s must be a number', async (parameter, call) => {
  for (const value of wrong) {
    const caught = await catchError(() => call(value))
    expect(caught).toBeInstanceOf(SluiceTypeError)
    expect(caught).toMatchObject({ parameter, code: 'ERR_INVALID_INPUT' })
  }
})

test('intervalMs must be a number that is not negative, or a function', async () => {
  for (const intervalMs of [...wrong, undefined, -1, -Infinity]) {
    if (typeof intervalMs === 'function') continue
    const caught = await catchError(() => loose(pollUntil)(never, { intervalMs }))
    const kind =
      typeof intervalMs === 'number' && intervalMs < 0 ? SluiceRangeError : SluiceTypeError
    expect(caught).toBeInstanceOf(kind)
    expect(caught).toMatchObject({ parameter: 'intervalMs', code: 'ERR_INVALID_INPUT' })
  }
})

test.each(amounts)('%s must not be negative', async (parameter, call) => {
  for (const value of [-1, -1e-9, -Infinity]) {
    const caught = await catchError(() => call(value))
    expect(caught).toBeInstanceOf(SluiceRangeError)
    expect(caught).toMatchObject({ parameter, code: 'ERR_INVALID_INPUT' })
  }
})

test.each<[string, () => unknown]>([
  ['options', () => loose(made)()],
  ['options', () => loose(jitteredBackoffManager)(5)],
  ['options', () => loose(exponentialBackoffManager)(null)],
  ['options', () => loose(pollUntil)(never)],
  ['options', () => loose(until)(nothing, 1, 5)],
  ['options', () => loose(backoffUntil)(nothing, manager, [])],
  ['options', () => loose(exponentialBackoff)(backoff, never, 'x')],
  ['cap', () => made({ durationMs: 1, cap: 5 })],
  ['durationMs', () => made({})],
  ['factor', () => made({ durationMs: 1, factor: Infinity })],
  ['steps', () => made({ durationMs: 1, steps: 1.5 })],
  ['endsAtCap', () => made({ durationMs: 1, endsAtCap: 1 })],
  ['random', () => made({ durationMs: 1, random: 0.5 })],
  ['random', () => loose(jitter)(1, 1, 0.5)],
  ['clock', () => loose(backoff.delayWithReset.bind(backoff))(undefined, 1)],
  ['clock', () => loose(jitteredBackoffManager)({ durationMs: 1, clock: 5 })],
  ['random', () => loose(jitteredBackoffManager)({ durationMs: 1, random: 5 })],
  ['clock', () => loose(exponentialBackoffManager)({ ...exponential, clock: 5 })],
  ['max', () => loose(exponentialBackoffManager)({ ...exponential, max: 5 })],
  ['fn', () => loose(until)(undefined, 1)],
  ['fn', () => loose(backoffUntil)({}, manager)],
  ['manager', () => loose(backoffUntil)(nothing)],
  ['manager.nextMs', () => loose(backoffUntil)(nothing, {})],
  ['manager.clock', () => loose(backoffUntil)(nothing, { nextMs: () => 1 })],
  ['sliding', () => loose(backoffUntil)(nothing, manager, { sliding: 'yes' })],
  ['signal', () => loose(backoffUntil)(nothing, manager, { signal: {} })],
  ['onError', () => loose(until)(nothing, 1, { onError: 'ignore' })],
  ['report', () => loose(until)(nothing, 1, { report: 'x' })],
  ['sliding', () => loose(until)(nothing, 1, { sliding: true })],
  ['signal', () => loose(forever)(nothing, 1, { signal: new AbortController().signal })],
  ['clock', () => loose(until)(nothing, 1, { clock: 5 })],
  ['backoff', () => loose(exponentialBackoff)(undefined, never)],
  ['backoff.copy', () => loose(exponentialBackoff)({ durationMs: 1 }, never)],
  ['condition', () => loose(exponentialBackoff)(backoff, true)],
  ['signal', () => loose(exponentialBackoff)(backoff, never, { signal: 5 })],
  ['clock', () => loose(exponentialBackoff)(backoff, never, { clock: 5 })],
  ['condition', () => loose(pollUntil)('x', { intervalMs: 1 })],
  ['immediate', () => loose(pollUntil)(never, { intervalMs: 1, immediate: 1 })],
  ['sliding', () => loose(pollUntil)(never, { intervalMs: 1, sliding: 'yes' })],
  ['signal', () => loose(pollUntil)(never, { intervalMs: 1, signal: 'x' })],
  ['clock', () => loose(pollUntil)(never, { intervalMs: 1, clock: 5 })],
  ['interval', () => loose(pollUntil)(never, { interval: 1 })],
  ['timeout', () => loose(pollUntil)(always, { intervalMs: 1, timeout: 5 })],
  ['signals', () => loose(exponentialBackoff)(backoff, always, { signals: [] })],
  ['slides', () => loose(backoffUntil)(nothing, manager, { signal: stopped, slides: true })],
  ['sliding', () => loose(nonSlidingUntil)(nothing, 1, { signal: stopped, sliding: true })],
])('%s is named when it is refused', async (parameter, call) => {
  const caught = await catchError(call)
  expect(caught).toMatchObject({
    parameter: expect.stringContaining(parameter),
    code: 'ERR_INVALID_INPUT',
  })
})

async function catchError(act: () => unknown): Promise<unknown> {
  try {
    await act()
  } catch (error) {
    return error
  }
  return undefined
}
