import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedSql, generatedFile } from '@sluice/embed-sql'
import { describe, test } from 'vitest'
import { statementTexts } from '../src/statements.generated.ts'

describe('the statements', () => {
  test('are those of the files in sql', () => {
    const folder = join(import.meta.dirname, '..')
    const written = readFileSync(join(folder, generatedFile), 'utf8')
    assert.equal(written, embeddedSql(folder), 'run `npm run embed`')
  })

  // SQLite plans a statement again each time when a parameter that it compares with gets another
  // value, in case another plan would be better now. That takes ten times as long as running it. A
  // plus in front of the parameter hides it from the planner.
  for (const [name, text] of Object.entries(statementTexts)) {
    test(`${name} is planned once`, () => {
      const conditions = text.replace(/\bset\b[\s\S]*?(?=\bwhere\b|\bfrom\b|$)/g, '')
      assert.doesNotMatch(conditions, /(?:[=<>]|\blimit)\s+\?/)
    })
  }
})
