import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ReplicaCount } from '../src/replicas/replica-count.ts'

const minute = 60_000

test('as many replicas are expected as there were; one that is missing for ten minutes is not', () => {
  const count = new ReplicaCount()
  count.note(0, 0)
  count.note(2, 1_000)
  assert.equal(count.expected, 2)
  for (let now = 2_000; now <= 10 * minute; now += 1_000) count.note(1, now)
  assert.equal(count.expected, 2)
  for (let now = 10 * minute; now <= 11 * minute; now += 1_000) count.note(1, now)
  assert.equal(count.expected, 1)
  count.note(2, 12 * minute)
  assert.equal(count.expected, 2)
})

test('the time in which the primary did not answer does not count', () => {
  const count = new ReplicaCount()
  count.note(1, 0)
  count.note(0, 1_000)
  count.note(0, 30 * minute)
  count.note(0, 30 * minute + 1_000)
  assert.equal(count.expected, 1)
})

test('a replica that was promoted expects as many as the primary before it', () => {
  const [old, promoted] = [new ReplicaCount(), new ReplicaCount()]
  old.note(2, 0)
  promoted.inherit(old)
  promoted.note(1, 1_000)
  assert.equal(promoted.expected, 2)
})
