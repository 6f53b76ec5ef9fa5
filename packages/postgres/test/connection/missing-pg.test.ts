/** A program of a project in which `pg` is not installed, or cannot be read. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const hooks = (code: string, message: string): string => `
export function resolve(name, context, next) {
  if (name === 'pg') throw Object.assign(new Error(${JSON.stringify(message)}), { code: '${code}' })
  return next(name, context)
}`

const program = (code: string, message: string): string => `
import { register } from 'node:module'
register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hooks(code, message)))})
const { postgresDriver } = await import(${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)})
const { systemEnvironment } = await import('@sluice/core/driver')
const driver = postgresDriver({ connectionString: 'postgres://db.example/shop' })
try {
  await driver.open({ environment: systemEnvironment })
} catch ({ code, message, retryable, cause }) {
  console.log(JSON.stringify({ code, message, retryable, cause: cause?.message }))
}
`

/** The error of a driver that is opened where importing `pg` fails in this way. */
function openingFails(code: string, message: string): unknown {
  const args = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  const said = execFileSync(
    process.execPath,
    [...args, '--input-type=module', '-e', program(code, message)],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )
  return JSON.parse(said)
}

test('without pg, opening says what to install', () => {
  expect(openingFails('ERR_MODULE_NOT_FOUND', "Cannot find package 'pg'")).toEqual({
    code: 'ERR_STORE',
    message: 'the package pg cannot be loaded; install it, or hand in a pool [ERR_STORE]',
    retryable: false,
    cause: "Cannot find package 'pg'",
  })
})

test('without a file handle for pg, opening does not say that it is not installed', () => {
  expect(openingFails('EMFILE', 'EMFILE: too many open files, open pg.js')).toEqual({
    code: 'ERR_STORE',
    message:
      'pg does not load: EMFILE: too many open files, open pg.js; raise the limit of open files, and restart the process [ERR_STORE]',
    retryable: true,
    cause: 'EMFILE: too many open files, open pg.js',
  })
})
