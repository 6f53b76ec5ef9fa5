import { modelSubject, queueCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { factories } from '../../support/queue-factories.ts'

const inMemory = (): Subject => ({ driver: memoryDriver(), clock: fakeClock() })

examine('through the queue, in memory, by the direct queue', inMemory, {
  cases: queueCases(factories),
})

examine('through the queue, in memory, with leases', inMemory, {
  cases: queueCases(factories, { leaseMs: 30_000 }),
})

// Its waiters look again on their own, every ten seconds.
const withoutWatch = (): Subject =>
  modelSubject({
    alter: ({ capabilities }) => ({
      ...({ watch: undefined } as unknown as Partial<Driver>),
      capabilities: { ...capabilities, watch: false },
    }),
  })

examine('through the queue, on a driver without watch', withoutWatch, {
  cases: queueCases(factories),
})
