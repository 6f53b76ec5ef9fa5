import assert from 'node:assert/strict'
import { test } from 'vitest'
import {
  addSoonKeysMax,
  batchKeysMax,
  concurrencyMax,
  crashesMaxDefault,
  delayMsMax,
  failuresExpireMsDefault,
  failuresMax,
  graceMsDefault,
  heartbeatMs,
  itemBytesDefault,
  itemBytesMax,
  jsonDepthMax,
  keyBytesMax,
  leaseMsDefault,
  leaseMsMax,
  leaseMsMin,
  limiterFallbackMs,
  priorityDefault,
  priorityMax,
  priorityMin,
  queueNameBytesMax,
  timeoutMsDefault,
} from '../src/limits.ts'

// Written out once more, in other words: these figures are in the documentation and in schemas.
test('the limits are those that were promised', () => {
  assert.deepEqual([keyBytesMax, queueNameBytesMax], [512, 128])
  assert.deepEqual([itemBytesDefault, itemBytesMax, jsonDepthMax], [65_536, 1_048_576, 100])
  assert.deepEqual([batchKeysMax, addSoonKeysMax, concurrencyMax], [1_000, 10_000, 1_000])
  assert.equal(delayMsMax, 315_576_000_000)
  assert.deepEqual([priorityMin, priorityDefault, priorityMax], [-1_000, 0, 1_000])
  assert.deepEqual([failuresMax, crashesMaxDefault], [2_147_483_647, 5])
  assert.deepEqual([leaseMsMin, leaseMsDefault, leaseMsMax], [100, 30_000, 86_400_000])
  assert.equal(failuresExpireMsDefault, 86_400_000)
  assert.deepEqual([timeoutMsDefault, graceMsDefault, heartbeatMs], [30_000, 10_000, 10_000])
  assert.equal(limiterFallbackMs, 1_000)
})

test('a failure count fits into 32 bits, and a delay of today into a date', () => {
  assert.equal(failuresMax | 0, failuresMax)
  assert.ok(!Number.isNaN(new Date(Date.UTC(2500, 0) + delayMsMax).getTime()))
})
