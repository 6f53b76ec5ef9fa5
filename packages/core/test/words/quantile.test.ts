import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { quantile } from '../../src/words/index.ts'

const bounds = [1, 2, 4, 8]

describe('a quantile of counted values', () => {
  test('is interpolated between the bounds of its bucket', () => {
    assert.equal(quantile(bounds, [0, 0, 100, 0, 0], 0.5), 3)
    assert.equal(quantile(bounds, [0, 0, 100, 0, 0], 0.95), 3.9)
    assert.equal(quantile(bounds, [50, 0, 0, 50, 0], 0.95), 7.6)
    assert.equal(quantile(bounds, [100, 0, 0, 0, 0], 1), 1)
  })

  test('above the last bound is that bound', () => {
    assert.equal(quantile(bounds, [0, 0, 0, 0, 3], 0.95), 8)
    assert.equal(quantile(bounds, [0, 0, 0, 0], 0), undefined)
  })

  test('of nothing is unknown', () => {
    assert.equal(quantile(bounds, [], 0.5), undefined)
    assert.equal(quantile(bounds, [0, 0, 0, 0, 0], 0.5), undefined)
  })
})
