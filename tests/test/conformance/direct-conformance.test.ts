import { throughDirect } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'

examine(
  'memory, through its direct queue',
  () => ({ driver: throughDirect(memoryDriver()), clock: fakeClock() }),
  { leaseMs: Infinity },
)
