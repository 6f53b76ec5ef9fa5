import type { Capabilities, Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import type { Subject } from '../case.ts'
import { ModelDriver } from './model-driver.ts'
import { ModelStore } from './model-store.ts'
import type { Rules } from './rules.ts'

/** Changes that make a model differ from the contract. */
export interface ModelSubjectOptions {
  readonly store?: ModelStore | undefined
  /** Rules that replace those of the contract. */
  readonly rules?: Partial<Rules> | undefined
  /** The effect of a step of the clock; `wall` by default. */
  readonly time?: Capabilities['time'] | undefined
  /** Members that replace the driver's own; called for each new driver. */
  readonly alter?: ((driver: ModelDriver, store: ModelStore) => Partial<Driver>) | undefined
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

/** The model as a subject, unchanged or with a part replaced. */
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
    // The model's other process is a second driver that shares nothing but the store.
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
