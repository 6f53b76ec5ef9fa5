import type { Capabilities, Driver } from '@sluice/core'
import { modelSubject } from '../src/model/model-subject.ts'
import { examine } from '../src/vitest.ts'

examine('the model', () => modelSubject())

examine('the model with a time that does not notice steps', () =>
  modelSubject({ time: 'monotonic' }),
)

const least: Partial<Capabilities> = {
  durable: false,
  shared: false,
  order: 'custom',
  watch: false,
  peers: false,
  operate: false,
  queues: false,
  workers: false,
  history: false,
  buckets: false,
  transact: false,
}

/** The members that a driver with no optional capability lacks. */
const absent = {
  operate: undefined,
  queues: undefined,
  workers: undefined,
  history: undefined,
  failedRuns: undefined,
  buckets: undefined,
  transact: undefined,
  watch: undefined,
  adopt: undefined,
} as unknown as Partial<Driver>

examine('the model with nothing but what is required, in an order of its own', () =>
  modelSubject({
    alter: (driver) => ({ ...absent, capabilities: { ...driver.capabilities, ...least } }),
    rules: { comesBefore: (a, b) => b.seq - a.seq },
  }),
)
