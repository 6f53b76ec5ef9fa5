import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver, type ReadyOrder } from '../src/index.ts'

examine('the memory driver', () => ({ driver: memoryDriver(), clock: fakeClock() }))

/** The default order of the originals, as one would write it as an order of one's own. */
function firstInFirstOut(): ReadyOrder {
  const keys: string[] = []
  return {
    push: (key) => void keys.push(key),
    touch: () => undefined,
    pop: () => keys.shift()!,
    len: () => keys.length,
  }
}

examine('the memory driver with an order of the caller', () => ({
  driver: memoryDriver({ order: firstInFirstOut }),
  clock: fakeClock(),
}))
