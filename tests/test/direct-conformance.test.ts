import { throughDirect } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'

examine(
  'memory, through its direct door',
  () => ({ driver: throughDirect(memoryDriver()), clock: fakeClock() }),
  {
    leaseMs: Infinity,
    except: {
      'failures.expire.idle': 'the shorter add of the door is not told when failures expire',
    },
  },
)
