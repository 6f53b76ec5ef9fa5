import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { allCases, allQueueCases } from '@sluice/conformance'
import { describe, expect, test } from 'vitest'
import { sourceMutants } from '../../support/mutants/sources/all.ts'
import { outcomeWith } from '../../support/mutants/sources/put-back.ts'
import { isTest } from '../../support/mutants/sources/source-mutant.ts'

// Known defects that are put back have to be found. All of them: `npm run torture -- mutants`.

function textOf(file: string): string {
  return readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
}

test('every mutant has a name of its own', () => {
  expect(new Set(sourceMutants.map(({ name }) => name)).size).toBe(sourceMutants.length)
})

test.for(sourceMutants)('$name: its texts and its test are there', ({ edits, finder }) => {
  for (const { file, find } of edits) expect(textOf(file).split(find)).toHaveLength(2)
  if (!isTest(finder)) return
  const { file, title } = finder
  const isCase = [...allCases, ...allQueueCases].some((each) => each.id === title)
  expect(isCase || textOf(file).includes(title)).toBe(true)
})

const quick = ['requeue wins over requeueAfterMs', 'crashes outlast a run that ended well']

describe('put back, it is found by its test', () => {
  test.for(quick)('%s', async (name) => {
    const mutant = sourceMutants.find((each) => each.name === name)
    assert.ok(mutant)
    expect(await outcomeWith(mutant.edits, mutant.finder)).toMatchObject({ as: 'failed' })
  })
})
