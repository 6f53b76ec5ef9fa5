import { describe, expect, it } from 'vitest'
import { packageError } from '../src/driver/index.ts'

const withCode = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code })

describe('a package that a driver cannot load', () => {
  it.each(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])('is to be installed: %s', (code) => {
    const cause = withCode(code, "Cannot find package 'pg'")
    expect(packageError('pg', 'hand in a pool', cause)).toMatchObject({
      code: 'ERR_STORE',
      message: 'the package pg cannot be loaded; install it, or hand in a pool [ERR_STORE]',
      retryable: false,
      cause,
    })
  })

  it.each([
    withCode('EMFILE', 'EMFILE: too many open files, open /srv/pg.js'),
    withCode('ENFILE', 'ENFILE: file table overflow, open /srv/pg.js'),
    withCode('ERR_INVALID_PACKAGE_CONFIG', 'Cannot read package config: too many open files.'),
    withCode('ERR_DLOPEN_FAILED', 'better_sqlite3.node: cannot open: Too many open files'),
  ])('may load later, if no file handle was left: $message', (cause) => {
    expect(packageError('pg', 'hand in a pool', cause)).toMatchObject({
      code: 'ERR_STORE',
      message: `pg does not load: ${cause.message}; raise the limit of open files, and restart the process [ERR_STORE]`,
      retryable: true,
      cause,
    })
  })

  it('is to be installed again, if it is there: with the first line of the reason', () => {
    const cause = new SyntaxError('Unexpected token\n  at pg.js:1')
    expect(packageError('pg', 'hand in a pool', cause)).toMatchObject({
      message:
        'pg does not load: Unexpected token; install it again, or hand in a pool [ERR_STORE]',
      retryable: false,
      cause,
    })
  })
})
