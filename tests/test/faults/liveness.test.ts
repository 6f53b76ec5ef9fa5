import assert from 'node:assert/strict'
import { memoryDriver } from '@sluice/memory'
import { test } from 'vitest'
import { liveness, sightsOfTrouble } from '../../support/liveness/liveness.ts'

// Longer: `npm run torture -- liveness`.

const seeds = [1, 8, 10, 15, 17, 19, 20, 23, 31, 32, 33, 34]

test('whatever a store refuses, loses or delays, every pending run happens', async () => {
  // Together, since most of a run waits for the pauses between tries, which take real time.
  const runs = await Promise.all(
    seeds.map((seed) => liveness(memoryDriver, { seed, actions: 120 })),
  )
  const met = new Set(runs.flatMap((seen) => [...seen.keys()]))
  const missing = sightsOfTrouble.filter((sight) => !met.has(sight))
  assert.deepEqual(missing, [], 'the trouble came')
})
