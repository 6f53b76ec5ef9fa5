import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

function underNodeTest(...args: readonly string[]): { status: number | null; output: string } {
  const file = `${import.meta.dirname}/fixtures/under-node-test.ts`
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings', file, ...args],
    { encoding: 'utf8', env },
  )
  return { status, output: stdout + stderr }
}

test('under node:test each case is a test', () => {
  const { status, output } = underNodeTest()
  expect(output).toMatch(/pass 11/)
  expect(output).toContain('done.dirty.requeues')
  expect(status).toBe(0)
})

test('under node:test a case that fails says what went wrong', () => {
  const { status, output } = underNodeTest('--broken')
  expect(output).toContain('the promise is kept; remove the exception for it: it is not broken')
  expect(status).toBe(1)
})
