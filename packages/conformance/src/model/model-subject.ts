import { fakeClock } from '@sluice/core/testing'
import type { Subject } from '../case.ts'
import { ModelDriver } from './model-driver.ts'
import { ModelStore } from './model-store.ts'
import type { Rules } from './rules.ts'

/** The model as a subject, as it is or with some of its rules replaced. */
export function modelSubject(rules: Partial<Rules> = {}): Subject {
  const store = new ModelStore()
  const make = (): ModelDriver => new ModelDriver({ store, rules })
  return {
    driver: make(),
    clock: fakeClock(),
    restart: make,
    peer: make,
    begin() {
      const before = store.snapshot()
      return {
        handle: store,
        commit() {},
        rollback() {
          store.queues = before.queues
          store.buckets = before.buckets
        },
      }
    },
  }
}
