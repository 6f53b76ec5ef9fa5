import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareKeys } from '../src/keys/compare-keys.ts'

const anyKey = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  }),
)

test('orders keys as their bytes are ordered', () => {
  fc.assert(
    fc.property(anyKey, anyKey, (a, b) => {
      const byBytes = Buffer.compare(Buffer.from(a), Buffer.from(b))
      expect(Math.sign(compareKeys(a, b))).toBe(byBytes)
    }),
  )
})
