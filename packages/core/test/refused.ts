import assert from 'node:assert/strict'
import { SluiceError, SluiceRangeError, SluiceTypeError } from '../src/errors.ts'

/**
 * Asserts that `call` throws a typed error of the `kind`, naming `parameter`, whose message matches,
 * and returns that error.
 */
export function refused(
  kind: 'type' | 'range',
  parameter: string,
  call: () => unknown,
  message: RegExp = /./,
): SluiceTypeError | SluiceRangeError {
  const Class = kind === 'type' ? SluiceTypeError : SluiceRangeError
  const Builtin = kind === 'type' ? TypeError : RangeError
  let error: unknown
  try {
    call()
  } catch (thrown) {
    error = thrown
  }
  assert.ok(error instanceof Class, `expected a ${Class.name}, got ${String(error)}`)
  assert.ok(error instanceof Builtin)
  assert.ok(SluiceError.is(error, 'ERR_INVALID_INPUT'))
  assert.equal(error.parameter, parameter)
  assert.ok(error.message.startsWith(`${parameter} `), error.message)
  assert.match(error.message, message)
  return error
}
