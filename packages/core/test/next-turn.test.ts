import { afterAll, expect, test, vi } from 'vitest'

afterAll(() => {
  vi.resetModules()
})

test('the next turn comes where the fake timers of a test runner began before the module was loaded', async () => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'clearImmediate'] })
  try {
    vi.resetModules()
    const { nextTurn } = await import('../src/time/next-turn.ts')
    await new Promise<void>(nextTurn)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
