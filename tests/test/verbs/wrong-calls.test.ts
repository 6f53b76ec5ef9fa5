import assert from 'node:assert/strict'
import { test } from 'vitest'
import { wrongCalls } from '../../support/wrong-calls/wrong-calls.ts'

// Longer: `npm run torture -- wrong-calls`.

test('a wrong call is refused with a typed error, and changes nothing', async () => {
  const { problems, refused, calls, targets } = await wrongCalls({ seed: 1, rounds: 3 })
  assert.deepEqual(problems, [])
  assert.ok(targets > 80, `${targets} functions were called`)
  assert.ok(refused > calls / 4, `${refused} of ${calls} calls were refused`)
})
