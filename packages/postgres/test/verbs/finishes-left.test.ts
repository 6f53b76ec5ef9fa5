import { type Finish, SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import type { Store } from '../../src/connection/store.ts'
import { finish } from '../../src/verbs/finish.ts'
import { askOptions } from '../support/asks.ts'

const finishes = ['a', 'b', 'c', 'd'].map(
  (key, index): Finish => ({ as: 'done', key, token: index + 1, forget: false }),
)

/** A store whose statement finishes the first and the third of these keys, and leaves the others to `transaction`. */
function leavingStore(transaction: () => Promise<unknown>): Store {
  const store = {
    time: { moment: () => ({ now: null, least: null }) },
    run: async () => [
      { outcome: 2 },
      { index: 0, outcome: 0, due_at: 'Infinity', failures: 0 },
      { index: 2, outcome: 1, due_at: 7, failures: 0 },
    ],
    transaction,
  }
  return store as unknown as Store
}

const idle = { outcome: 'idle', dueAt: Infinity, failures: 0 }
const ready = { outcome: 'ready', dueAt: 7, failures: 0 }

test('what one statement has finished stays finished, though the transaction for the others fails', async () => {
  const error = new SluiceError('ERR_UNKNOWN_OUTCOME', 'the answer is lost')
  const store = leavingStore(() => Promise.reject(error))
  const failed = { outcome: 'failed', error }
  expect(await finish(store, 'q', finishes, askOptions)).toEqual([idle, failed, ready, failed])
})

test('each key that one statement left gets its own reply', async () => {
  const later = [1, 2].map((dueAt) => ({ outcome: 'delayed', dueAt, failures: 0 }))
  const store = leavingStore(async () => later)
  expect(await finish(store, 'q', finishes, askOptions)).toEqual([idle, later[0], ready, later[1]])
})
