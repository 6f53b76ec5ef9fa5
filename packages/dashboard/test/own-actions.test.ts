import { expect, onTestFinished, test, vi } from 'vitest'
import { ownActions } from '../client/src/live/own-actions.ts'
import type { ActionRequest, Audit } from '../src/wire.ts'

const request: ActionRequest = { queue: 'orders', action: 'park', all: {}, expected: 10_000 }
const audit = { queue: 'orders', action: 'park', words: '10,000 keys were parked.' } as Audit

test('an action of this page is its own however long the store takes, and for 30 s after the answer', () => {
  // real time: none passes; it is stepped.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const answered = ownActions.note(request)
  vi.advanceTimersByTime(120_000)
  // The announcement may be read before the answer.
  expect(ownActions.take(audit)).toBe(true)
  answered()
  // Each is announced once: this one is of another page.
  expect(ownActions.take(audit)).toBe(false)
  ownActions.note(request)()
  vi.advanceTimersByTime(29_000)
  expect(ownActions.take(audit)).toBe(true)
  ownActions.note(request)()
  vi.advanceTimersByTime(31_000)
  expect(ownActions.take(audit)).toBe(false)
})
