import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { countedLength, utf8Length } from '../src/keys/utf8-length.ts'

test('bytes are counted without the help of Node as with it', () => {
  const unit = fc.oneof(fc.string(), fc.integer({ min: 0, max: 0xffff }).map(String.fromCharCode))
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(unit).map((units) => units.join('')),
  )
  fc.assert(
    fc.property(text, (sample) => {
      assert.equal(countedLength(sample), Buffer.byteLength(sample))
      assert.equal(utf8Length(sample), Buffer.byteLength(sample))
    }),
  )
  for (const sample of ['\ud800', '\udc00\ud800', '\ud83d\ude00', 'ä€\ud83d', '\uffff']) {
    assert.equal(countedLength(sample), Buffer.byteLength(sample), JSON.stringify(sample))
  }
})
