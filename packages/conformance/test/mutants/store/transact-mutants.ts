import type { Awaitable, DriverTransaction } from '@sluice/core'
import type { SubjectTransaction } from '../../../src/case.ts'
import type { ModelDriver } from '../../../src/model/model-driver.ts'
import type { ModelStore } from '../../../src/model/model-store.ts'
import { modelSubject } from '../../../src/model/model-subject.ts'
import { type Mutant, verbMutant } from '../mutant.ts'

function transactMutant(
  id: string,
  title: string,
  change: (inner: DriverTransaction, driver: ModelDriver, store: ModelStore) => DriverTransaction,
): Mutant {
  return verbMutant(id, title, (driver, store) => ({
    transact: (handle) => change(driver.transact(handle), driver, store),
  }))
}

/** Transactions, with one fault each. */
export const transactMutants: readonly Mutant[] = [
  transactMutant(
    'transact-add-dropped',
    'an add in a transaction is acknowledged and dropped',
    (inner) => ({
      ...inner,
      add: (_, asks) =>
        asks.map(() => ({ outcome: 'added' as const, dueAt: Infinity, failures: 0 })),
    }),
  ),
  transactMutant('transact-earliest', "a transaction ignores 'client-go'", (inner) => ({
    ...inner,
    add: (queue, asks, options) => inner.add(queue, asks, { ...options, dedupe: 'earliest' }),
  })),
  transactMutant('transact-finish-dropped', 'a finish in a transaction is dropped', (inner) => ({
    ...inner,
    finish: () => [],
  })),
  transactMutant(
    'transact-lost-quietly',
    'a lost lease is an outcome, not an error',
    (inner, driver, store) => ({
      ...inner,
      finish: (queue, finishes, options) =>
        store.inside(() => driver.finish(queue, finishes, options)),
    }),
  ),
  {
    id: 'transact-autocommit',
    title: 'what is done in a transaction is done at once',
    create() {
      const subject = modelSubject()
      return {
        ...subject,
        async begin() {
          const { handle, commit } = await (subject.begin as () => Awaitable<SubjectTransaction>)()
          return { handle, commit, rollback: commit }
        },
      }
    },
  },
  verbMutant(
    'transact-swallows',
    'an add that waits for a transaction becomes part of it',
    (driver, store) => ({
      add(queue, asks, options) {
        if (!store.isInTransaction) return driver.add(queue, asks, options)
        return asks.map(() => ({ outcome: 'unchanged' as const, dueAt: 0, failures: 0 }))
      },
    }),
  ),
]
