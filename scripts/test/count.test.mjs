import assert from 'node:assert/strict'
import { test } from 'vitest'
import { count } from '../count.mjs'

const report = (passed, failed, files = []) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: 0,
  testResults: files,
})
const parts = (testCode, lintCode = 0) => [
  { part: 'test', code: testCode },
  { part: 'lint', code: lintCode },
]
const totals = (...args) => {
  const { passed, failed } = count(...args)
  return [passed, failed]
}

test('tests count for themselves, every other part for one', () => {
  assert.deepEqual(totals(report(7, 0), parts(0)), [8, 0])
  assert.deepEqual(totals(report(7, 2), parts(1)), [8, 2])
  assert.deepEqual(totals(report(7, 0), parts(0, 1)), [7, 1])
})

test('a file that could not be loaded is a failure', () => {
  const broken = { status: 'failed', assertionResults: [] }
  const counted = { name: 'b.ts', status: 'failed', assertionResults: [{ status: 'failed' }] }
  assert.deepEqual(totals(report(7, 1, [broken, counted]), parts(1)), [8, 2])
})

test('what failed is named at the end, with the whole message, and without the stack', () => {
  const message = 'AssertionError: these differ:\n\n+ c\n- b\n    at b.ts:1\n    at a.ts:2'
  const failed = { fullName: 'a is b', status: 'failed', failureMessages: [message] }
  const file = { name: '/x/test/b.ts', status: 'failed', assertionResults: [failed] }
  const { remarks } = count(report(7, 1, [file]), parts(1))
  assert.deepEqual(remarks.at(-1), 'failed: a is b (b.ts): AssertionError: these differ: + c - b')
})

test('a long message is named with its beginning and its end', () => {
  const message = `Error: a history: ${'add, '.repeat(1_000)}\nthe claim of a: 1 !== 2\n    at b.ts:1`
  const failed = { fullName: 'a is b', status: 'failed', failureMessages: [message] }
  const file = { name: '/x/test/b.ts', status: 'failed', assertionResults: [failed] }
  const named = count(report(7, 1, [file]), parts(1)).remarks.at(-1)
  assert.match(named, /: Error: a history: add, .* … .*, the claim of a: 1 !== 2$/)
  assert.ok(named.length < 1_100)
})

test('so is a run that fails for a reason no test knows', () => {
  assert.deepEqual(totals(report(7, 0), parts(1)), [8, 1])
})

test('so is a run without tests, or without a report', () => {
  assert.deepEqual(totals(report(0, 0), parts(0)), [1, 1])
  assert.deepEqual(totals(undefined, parts(0)), [1, 1])
})
