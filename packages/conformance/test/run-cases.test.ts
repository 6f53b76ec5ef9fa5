import { expect, onTestFinished, test, vi } from 'vitest'
import type { Case } from '../src/case.ts'
import { modelSubject } from '../src/model/model-subject.ts'
import { type CaseResult, runCase, runCases } from '../src/run-cases.ts'

const easy: Case = { id: 'a.b', title: 'nothing to keep', run: async () => {} }

/** What becomes of a promise within a minute of time that passes at once. */
async function withinAMinute<T>(promise: Promise<T>): Promise<T | 'no answer'> {
  const ended = Promise.race([
    promise,
    new Promise<'no answer'>((resolve) => setTimeout(() => resolve('no answer'), 60_000)), // real time: the fake of it.
  ])
  await vi.advanceTimersByTimeAsync(60_000)
  return await ended
}

test.each(['close', 'dispose'])(
  'a driver whose %s never ends fails its cases, and no more',
  async (verb) => {
    // real time: is put under control here.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const hang = (): Promise<void> => new Promise(() => undefined)
    const create = () =>
      verb === 'close'
        ? modelSubject({ alter: () => ({ close: hang }) })
        : { ...modelSubject(), dispose: hang }
    const results: CaseResult[] = []
    const all = async (): Promise<void> => {
      for await (const result of runCases(create, { cases: [easy, { ...easy, id: 'c.d' }] })) {
        results.push(result)
      }
    }
    expect(await withinAMinute(all())).toBe(undefined)
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['a.b', 'failed'],
      ['c.d', 'failed'],
    ])
    expect(String(results[0]?.error)).toContain('closing the drivers')
    expect(await withinAMinute(runCase(easy, () => modelSubject()))).toMatchObject({
      verdict: 'passed',
    })
  },
)
