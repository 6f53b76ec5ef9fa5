import assert from 'node:assert/strict'
import { test } from 'vitest'

test('packages resolve to their sources, so a test never needs a build', () => {
  assert.match(import.meta.resolve('@sluice/core'), /@sluice\/core\/src\/index\.ts$/)
})
