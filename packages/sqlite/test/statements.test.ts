import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EpochMs } from '@sluice/core'
import { embeddedSql, generatedFile } from '@sluice/embed-sql'
import { describe, test } from 'vitest'
import { prepareStatements, type StatementName } from '../src/connection/statements.ts'
import { loadLibrary } from '../src/library/library.ts'
import { createSchema } from '../src/schema/migrate.ts'
import { statementTexts } from '../src/statements.generated.ts'

describe('the statements', () => {
  test('are those of the files in sql', () => {
    const folder = join(import.meta.dirname, '..')
    const written = readFileSync(join(folder, generatedFile), 'utf8')
    assert.equal(written, embeddedSql(folder), 'run `npm run embed`')
  })

  test('are prepared when they are first used, and once', () => {
    const database = loadLibrary(undefined).open(':memory:')
    createSchema(database, 0 as EpochMs)
    const prepared: string[] = []
    const prepare = database.prepare.bind(database)
    const counted = Object.assign(database, {
      prepare(sql: string) {
        prepared.push(sql)
        return prepare(sql)
      },
    })
    const statements = prepareStatements(counted)
    const atOnce = ['begin immediate', 'begin', 'commit', 'rollback', 'pragma data_version']
    assert.deepEqual(prepared, atOnce)
    assert.equal(statements.storeRead, statements.storeRead)
    assert.deepEqual(prepared, [...atOnce, statementTexts.storeRead])
    const names = Object.keys(statementTexts) as StatementName[]
    for (const name of names) assert.equal(typeof statements[name].run, 'function')
    assert.equal(prepared.length, atOnce.length + names.length)
    database.close()
  })

  // SQLite plans a statement again each time when a parameter that it compares with gets another
  // value, in case another plan would be better now. That takes ten times as long as running it. A
  // plus in front of the parameter hides it from the planner.
  for (const [name, text] of Object.entries(statementTexts)) {
    test(`${name} is planned once`, () => {
      const conditions = text.replace(/\bset\b[\s\S]*?(?=\bwhere\b|\bfrom\b|$)/g, '')
      assert.doesNotMatch(conditions, /(?:[=<>]|\b(?:limit|between|and))\s+\?/)
    })
  }
})
