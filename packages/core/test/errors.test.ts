import assert from 'node:assert/strict'
import { createContext, runInContext } from 'node:vm'
import { describe, test } from 'vitest'
import { errorAnchor, SluiceError, SluiceRangeError, SluiceTypeError } from '../src/errors.ts'

const classes = [
  ['SluiceTypeError', SluiceTypeError, TypeError],
  ['SluiceRangeError', SluiceRangeError, RangeError],
] as const

describe('SluiceError', () => {
  test('carries its code, in the message too, and where it is explained', () => {
    const error = new SluiceError('ERR_STORE', 'the store did not answer')
    assert.equal(error.message, 'the store did not answer [ERR_STORE]')
    assert.equal(error.code, 'ERR_STORE')
    assert.equal(error.name, 'SluiceError')
    assert.match(error.docs, /^https:.*\/reference\/errors#err_store$/)
    assert.equal(error.docs, errorAnchor('ERR_STORE'))
    assert.ok(error instanceof Error)
    assert.match(String(error), /^SluiceError: the store/)
    assert.match(error.stack ?? '', /errors\.test\.ts/)
  })

  test('is not worth repeating unless it says so', () => {
    assert.equal(new SluiceError('ERR_STORE', 'm').retryable, false)
    assert.equal(new SluiceError('ERR_STORE', 'm', { retryable: true }).retryable, true)
  })

  test('has a cause exactly when it was given one, be it undefined', () => {
    const cause = new Error('underneath')
    assert.equal(new SluiceError('ERR_STORE', 'm', { cause }).cause, cause)
    assert.equal('cause' in new SluiceError('ERR_STORE', 'm'), false)
    assert.equal('cause' in new SluiceError('ERR_STORE', 'm', { cause: undefined }), true)
  })
})

describe('bad input', () => {
  for (const [name, Class, Builtin] of classes) {
    test(`${name} is also a ${Builtin.name}, and names the parameter`, () => {
      const error = new Class('leaseMs', 'must be a number')
      assert.ok(error instanceof Builtin)
      assert.equal(error.message, 'leaseMs must be a number [ERR_INVALID_INPUT]')
      assert.equal(error.parameter, 'leaseMs')
      assert.equal(error.code, 'ERR_INVALID_INPUT')
      assert.equal(error.name, name)
      assert.equal(error.retryable, false)
      assert.equal(error.docs, errorAnchor('ERR_INVALID_INPUT'))
      const cause = new Error('underneath')
      assert.equal(new Class('p', 'm', { cause }).cause, cause)
      assert.equal('cause' in new Class('p', 'm'), false)
    })
  }
})

describe('SluiceError.is', () => {
  test('is false for what cannot be looked at', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    assert.equal(SluiceError.is(proxy), false)
  })

  test('is true for all three classes, and compares a code if one is given', () => {
    const errors = [
      new SluiceError('ERR_INVALID_INPUT', 'm'),
      ...classes.map(([, Class]) => new Class('p', 'm')),
    ]
    for (const error of errors) {
      assert.equal(SluiceError.is(error), true)
      assert.equal(SluiceError.is(error, 'ERR_INVALID_INPUT'), true)
      assert.equal(SluiceError.is(error, 'ERR_CLOSED'), false)
    }
  })

  test('does not hold for anything else, and never throws', () => {
    const lookalike = Object.assign(new Error('m'), { name: 'SluiceError', code: 'ERR_STORE' })
    const others = [undefined, null, 'ERR_STORE', 5, {}, lookalike, new TypeError('m'), () => {}]
    for (const other of others) assert.equal(SluiceError.is(other), false)
  })

  test('holds for an error of another copy of the package', async () => {
    const path = '../src/errors.ts?copy'
    const copy = (await import(/* @vite-ignore */ path)) as typeof import('../src/errors.ts')
    const error = new copy.SluiceError('ERR_CLOSED', 'm')
    assert.notEqual(copy.SluiceError, SluiceError)
    assert.equal(error instanceof SluiceError, false)
    assert.equal(SluiceError.is(error, 'ERR_CLOSED'), true)
  })

  test('holds across realms', () => {
    const error: unknown = runInContext(
      `const error = new Error('m')
       error.code = 'ERR_CLOSED'
       error[Symbol.for('sluice.error')] = true
       error`,
      createContext(),
    )
    assert.equal(error instanceof Error, false)
    assert.equal(SluiceError.is(error, 'ERR_CLOSED'), true)
  })
})

test('is with a code narrows the type to that code, and excludes no other code', () => {
  const error: SluiceError = new SluiceError('ERR_CLOSED', 'closed')
  const seen: 'ERR_SHUT_DOWN'[] = []
  if (SluiceError.is(error, 'ERR_SHUT_DOWN')) seen.push(error.code)
  else assert.equal(error.code, 'ERR_CLOSED')
  assert.deepEqual(seen, [])
})
