import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'vitest'
import { embedded } from '../embed-sql.ts'
import { statementTexts } from '../src/statements.generated.ts'

describe('the statements', () => {
  test('are those of the files in sql', () => {
    const path = new URL('../src/statements.generated.ts', import.meta.url)
    assert.equal(readFileSync(path, 'utf8'), embedded(), 'run `pnpm embed`')
  })

  // SQLite plans a statement anew each time when a parameter that it compares with gets another
  // value, in case another plan would be better now. That takes ten times as long as running it. A
  // plus in front of the parameter hides it from the planner.
  for (const [name, text] of Object.entries(statementTexts)) {
    test(`${name} is planned once`, () => {
      const conditions = text.replace(/\bset\b[\s\S]*?(?=\bwhere\b|\bfrom\b|$)/g, '')
      assert.doesNotMatch(conditions, /(?:[=<>]|\blimit)\s+\?/)
    })
  }
})
