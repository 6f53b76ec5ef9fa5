import { queueCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
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
