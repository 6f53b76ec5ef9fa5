import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, test } from 'vitest'
import {
  type Fence,
  fencesOf,
  firstWithSetup,
  newerThanNode22,
  notInstalled,
  packagesOf,
} from '../src/fence.ts'
import { clearAway, complaints, execute, layOut } from '../src/workbench.ts'

// Every TypeScript fence of every page and doc comment is compiled, and executed unless it says
// that it is not meant to be.
const root = fileURLToPath(new URL('../../../', import.meta.url))
const shown = /(\.md|^(packages|tools)\/[^/]+\/src\/.*\.ts)$/

const texts = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(
    (path) => shown.test(path) && !path.startsWith('tools/doctest/') && existsSync(root + path),
  )
  .map((path) => [path, readFileSync(root + path, 'utf8')] as const)
const fences = texts
  .flatMap(([path, text]) => fencesOf(path, text))
  .filter(({ isCompat }) => !isCompat)

const sheets = layOut(fences)
const said = complaints(sheets)
afterAll(() => clearAway(sheets))

/** The first package a fence needs that is laid out but not written. */
function unwritten(fence: Fence): string | undefined {
  return packagesOf(fence).find((name) => {
    const folder = name === 'sluice' ? 'queue' : name.replace(/^@sluice\//, '')
    return (
      existsSync(`${root}packages/${folder}/package.json`) &&
      !existsSync(`${root}packages/${folder}/src/index.ts`)
    )
  })
}

describe('documents', () => {
  test('show code', () => assert.ok(sheets.length > 0))

  test('show all of the first program of a README', () => {
    assert.deepEqual(firstWithSetup(fences), [])
  })

  test('show code that the oldest Node runs', () => {
    assert.deepEqual(newerThanNode22(fences), [])
  })

  test('say to install all that their code needs', () => {
    const pages = texts.filter(([path]) => path.endsWith('.md'))
    assert.deepEqual(
      pages.flatMap(([path, text]) => notInstalled(path, text)),
      [],
    )
  })

  for (const sheet of sheets) {
    const { fence } = sheet
    const missing = unwritten(fence)
    test.skipIf(missing !== undefined)(
      `${fence.path}:${fence.line}${missing === undefined ? '' : ` (${missing} has no code yet)`}`,
      async () => {
        assert.deepEqual(said.get(sheet), [])
        if (fence.runs) assert.equal(await execute(sheet), undefined)
      },
    )
  }
})
