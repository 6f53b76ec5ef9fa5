import { SluiceError, type TracedVerb } from '@sluice/core'
import { expect, test } from 'vitest'
import { StoreHealth } from '../../src/driver/store-health.ts'
import { fakeRealTime } from '../support/real-time.ts'

/** The health of a store that answers or refuses calls one after the other. */
function watched() {
  const time = fakeRealTime()
  const health = new StoreHealth(() => undefined)
  const away = new SluiceError('ERR_STORE', 'away', { retryable: true })
  return {
    time,
    refuses: (...verbs: TracedVerb[]) => {
      for (const verb of verbs) health.failed(verb, away)
    },
    answers: (verb: TracedVerb) => health.record(verb, undefined),
    state: () => ({ isInTrouble: health.isInTrouble, isDegraded: health.isDegraded }),
  }
}

test('claims and finishes that fail in turns are trouble, whatever else is answered', async () => {
  const { time, refuses, answers, state } = watched()
  for (let round = 0; round < 4; round += 1) {
    refuses('finish', 'claim')
    answers('tick')
    expect(state()).toEqual({ isInTrouble: round > 0, isDegraded: round > 2 })
    await time.pass(10_000)
  }
  answers('claim')
  expect(state().isInTrouble).toBe(true)
  answers('finish')
  expect(state().isInTrouble).toBe(false)
})

test('a failure that comes long after earlier ones is the first of another disturbance', async () => {
  const { time, refuses, answers, state } = watched()
  for (let round = 0; round < 2; round += 1) {
    refuses('finish')
    answers('tick')
  }
  expect(state()).toEqual({ isInTrouble: true, isDegraded: false })
  // The lease has ended, and nothing is finished for a while.
  await time.pass(60_000)
  expect(state().isInTrouble).toBe(false)
  refuses('finish')
  expect(state()).toEqual({ isInTrouble: true, isDegraded: false })
  answers('tick')
  expect(state().isInTrouble).toBe(false)
})
