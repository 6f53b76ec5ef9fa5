import type { Driver } from '@sluice/core'
import type { Subject } from '../../../src/case.ts'
import { ModelStore } from '../../../src/model/model-store.ts'
import { modelSubject } from '../../../src/model/model-subject.ts'
import type { Mutant } from '../mutant.ts'

/** A subject with a correct first driver, and with faults in other drivers or other processes. */
export function othersMutant(
  id: string,
  title: string,
  make: (subject: Subject, store: ModelStore) => Partial<Subject>,
): Mutant {
  return {
    id,
    title,
    create() {
      const store = new ModelStore()
      const subject = modelSubject({ store })
      return { ...subject, ...make(subject, store) }
    },
  }
}

/** Finds a store empty on opening, and empties it again later. */
export function emptying(driver: Driver, store: ModelStore): Partial<Driver> {
  let mustEmpty = false
  return {
    async open(options) {
      mustEmpty = store.queues.size === 0
      await driver.open(options)
    },
    counts(queue, options) {
      if (mustEmpty) store.queue(queue).keys.clear()
      mustEmpty = false
      return driver.counts(queue, options)
    },
  }
}
