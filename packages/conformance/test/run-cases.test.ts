import { expect, onTestFinished, test, vi } from 'vitest'
import type { Case, CreateSubject } from '../src/case.ts'
import { modelSubject } from '../src/model/model-subject.ts'
import { type CaseResult, runCases } from '../src/run-cases.ts'

const easy: Case = { id: 'a.b', title: 'nothing to keep', run: async () => {} }

/** What becomes of a promise within a minute of time that passes at once. */
async function withinAMinute(promise: Promise<unknown>): Promise<unknown> {
  let answer: unknown = 'no answer'
  promise.then(
    (value) => {
      answer = value
    },
    (error: unknown) => {
      answer = error
    },
  )
  await vi.advanceTimersByTimeAsync(60_000)
  return answer
}

/** The results of two cases, while a minute passes at once. */
async function runHanging(create: CreateSubject): Promise<CaseResult[]> {
  // real time: is put under control here.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const results: CaseResult[] = []
  const all = async (): Promise<void> => {
    for await (const result of runCases(create, { cases: [easy, { ...easy, id: 'c.d' }] })) {
      results.push(result)
    }
  }
  expect(await withinAMinute(all())).toBe(undefined)
  return results
}

const hang = (): Promise<void> => new Promise(() => undefined)

test('a driver whose close never ends fails its cases, one after the other', async () => {
  const results = await runHanging(() => modelSubject({ alter: () => ({ close: hang }) }))
  expect(results.map(({ verdict }) => verdict)).toEqual(['failed', 'failed'])
  expect(String(results[0]?.error)).toContain('closing the drivers')
})

test('so does a store whose removal never ends', async () => {
  const results = await runHanging(() => ({ ...modelSubject(), dispose: hang }))
  expect(results.map(({ verdict }) => verdict)).toEqual(['failed', 'failed'])
})

test('a driver that closes at once passes', async () => {
  const results = await runHanging(() => modelSubject())
  expect(results.map(({ verdict }) => verdict)).toEqual(['passed', 'passed'])
})
