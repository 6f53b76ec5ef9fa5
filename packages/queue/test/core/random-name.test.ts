import { expect, onTestFinished, test, vi } from 'vitest'
import { randomName } from '../../src/environment/environment.ts'

test('a page without TLS, which has no randomUUID, has random names too', () => {
  const { crypto } = globalThis
  const getRandomValues = vi.fn((bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes))
  vi.stubGlobal('crypto', { getRandomValues })
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(randomName()).toMatch(/^[0-9a-f]{32}$/)
  expect(randomName()).not.toBe(randomName())
  // Each byte is two digits.
  getRandomValues.mockImplementation((bytes) => bytes.fill(10))
  expect(randomName()).toBe('0a'.repeat(16))
})
