/** A program of a project in which `pg` is not installed. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const hooks = `
export function resolve(name, context, next) {
  if (name === 'pg') throw Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' })
  return next(name, context)
}`

const program = `
import { register } from 'node:module'
register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hooks))})
const { postgresDriver } = await import(${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)})
const { systemEnvironment } = await import('@sluice/core/driver')
const driver = postgresDriver({ connectionString: 'postgres://db.example/shop' })
try {
  await driver.open({ environment: systemEnvironment })
} catch ({ code, message, retryable, cause }) {
  console.log(JSON.stringify({ code, message, retryable, cause: cause?.message }))
}
`

test('without pg, opening says what to install', () => {
  const args = ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings']
  const said = execFileSync(process.execPath, [...args, '--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  expect(JSON.parse(said)).toEqual({
    code: 'ERR_STORE',
    message: 'the package pg cannot be loaded; install it, or hand in a pool [ERR_STORE]',
    retryable: false,
    cause: "Cannot find package 'pg'",
  })
})
