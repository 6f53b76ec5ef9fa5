/** Programs of projects in which `redis` and `ioredis` are not installed, or cannot be read. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

type Causes = Readonly<Record<string, { readonly code: string; readonly message: string }>>

const program = (causes: Causes): string => `
import { registerHooks } from 'node:module'
const causes = ${JSON.stringify(causes)}
registerHooks({
  resolve(name, context, next) {
    if (Object.hasOwn(causes, name)) throw Object.assign(new Error(causes[name].message), causes[name])
    return next(name, context)
  },
})
const { redisDriver } = await import(${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)})
const { systemEnvironment } = await import('@sluice/core/driver')
// No server listens on this port.
const driver = redisDriver({ url: 'redis://127.0.0.1:1' })
try {
  await driver.open({ environment: systemEnvironment })
} catch ({ message, retryable }) {
  console.log(JSON.stringify({ message, retryable }))
}
process.exit()
`

/** The error of a driver that is opened where importing packages fails in this way. */
function openingFails(causes: Causes): unknown {
  const args = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  const said = execFileSync(
    process.execPath,
    [...args, '--input-type=module', '-e', program(causes)],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )
  return JSON.parse(said)
}

const missing = { code: 'ERR_MODULE_NOT_FOUND', message: 'Cannot find package' }
const noHandle = { code: 'EMFILE', message: 'EMFILE: too many open files, open index.js' }

test('without redis and ioredis, opening says what to install', () => {
  expect(openingFails({ redis: missing, ioredis: missing })).toEqual({
    message: 'the package redis cannot be loaded; install it, or hand in a client [ERR_STORE]',
    retryable: false,
  })
})

test('without redis, ioredis is used', () => {
  expect(openingFails({ redis: missing })).toEqual({
    message: expect.stringContaining('ECONNREFUSED'),
    retryable: true,
  })
})

test('without a file handle for redis, ioredis is not used', () => {
  expect(openingFails({ redis: noHandle })).toEqual({
    message:
      'redis does not load: EMFILE: too many open files, open index.js; raise the limit of open files, and restart the process [ERR_STORE]',
    retryable: true,
  })
})
