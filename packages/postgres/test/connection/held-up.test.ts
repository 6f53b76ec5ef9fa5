import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { withDeadline } from '../../src/connection/deadline.ts'

const afterTimers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test.each([
  ['a statement', undefined],
  ['a suspicion as late as the deadline', { afterMs: 20, isLost: async () => false }],
])('a process that was held up reads the answer that has come: %s', async (what, suspicion) => {
  await afterTimers()
  // Answers are read after the timers that are due have fired.
  const answer = afterTimers().then(() => 'an answer')
  const waiting = withDeadline(systemEnvironment, 20, what, answer, { suspicion })
  const heldUntil = performance.now() + 40
  while (performance.now() < heldUntil);
  expect(await waiting).toBe('an answer')
})

test('an answer leaves no timer behind, and no wait that could be ended', async () => {
  const clock = fakeClock()
  const waits = new Set<(error: unknown) => void>()
  const answer = withDeadline({ clock, random: () => 0.5 }, 1_000, 'a call', afterTimers(), {
    waits,
  })
  expect([clock.waiters(), clock.refCount(), waits.size]).toEqual([1, 1, 1])
  await answer
  expect([clock.waiters(), waits.size]).toEqual([0, 0])
})
