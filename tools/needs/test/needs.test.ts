import assert from 'node:assert/strict'
import { afterEach, test, vi } from 'vitest'
import { needs } from '../src/index.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

test('what was found is never a problem', () => {
  vi.stubEnv('SLUICE_REQUIRE_ALL', '1')
  assert.equal(needs('a thing', true), true)
})

test('what is missing is skipped, aloud', () => {
  vi.stubEnv('SLUICE_REQUIRE_ALL', '')
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  assert.equal(needs('a thing', false), false)
  assert.deepEqual(warn.mock.calls, [['skipped: a thing is missing']])
})

test('what is missing is a failure where everything is required', () => {
  vi.stubEnv('SLUICE_REQUIRE_ALL', '1')
  assert.throws(() => needs('a thing', false), /a thing is missing/)
})
