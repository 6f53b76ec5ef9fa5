import type { Capabilities, Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import type { Subject } from '../case.ts'
import { ModelDriver } from './model-driver.ts'
import { ModelStore } from './model-store.ts'
import type { Rules } from './rules.ts'

/** How a model can be made to differ from the contract. */
export interface ModelSubjectOptions {
  readonly store?: ModelStore
  /** Rules to put in place of those of the contract. */
  readonly rules?: Partial<Rules>
  /** What a step of the clock does; `wall` unless given. */
  readonly time?: Capabilities['time']
  /** Members to put in place of the driver's own; called for each driver that is made. */
  readonly alter?: (driver: ModelDriver, store: ModelStore) => Partial<Driver>
}

/** The same driver with some of its members replaced. */
export function altered(driver: Driver, members: Partial<Driver>): Driver {
  return new Proxy(driver, {
    get(_, name) {
      const source = Object.hasOwn(members, name) ? members : driver
      const value: unknown = Reflect.get(source, name, source)
      return typeof value === 'function' ? value.bind(source) : value
    },
  })
}

/** The model as a subject, as it is or with a part of it replaced. */
export function modelSubject(options: ModelSubjectOptions = {}): Subject {
  const { store = new ModelStore(), rules = {}, time = 'wall', alter } = options
  const make = (): Driver => {
    const driver = new ModelDriver({ store, rules, time })
    return alter === undefined ? driver : altered(driver, alter(driver, store))
  }
  return {
    driver: make(),
    clock: fakeClock(),
    restart: make,
    peer: make,
    // As far as it has other processes: what is shared is the store alone.
    otherProcess: () => ({ driver: make(), kill() {} }),
    cutPower: make,
    begin() {
      const before = store.snapshot()
      store.isInTransaction = true
      return {
        handle: store,
        commit() {
          store.isInTransaction = false
        },
        rollback() {
          store.isInTransaction = false
          store.queues = before.queues
          store.buckets = before.buckets
        },
      }
    },
  }
}
