import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embeddedSql } from '../src/embed-sql.ts'

function packageOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'embed-sql-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'sql', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return folder
}

test('migrations are numbered and keep their text, statements lose their comments', () => {
  const folder = packageOf({
    'tables/0001-first.sql': '-- breaking: yes\ncreate table a (b text);\n',
    'tables/0002-more/20-view.sql': 'create view c as\nselect 2;\n',
    'tables/0002-more/10-index.sql': '-- breaking: no\n\ncreate index d on a (b);\n',
    'statements/key-find.sql': "-- Finds a key.\nselect 'b' from a\n",
    'statements/add.sql': '-- Adds.\ninsert into a\n-- All of them.\nvalues (?)\n',
  })
  expect(
    embeddedSql(folder),
  ).toBe(`// Generated from sql/ by tools/embed-sql; change those files instead.
import type { Migration } from './schema/migration.ts'

export const migrations: readonly Migration[] = [
  {
    version: 1,
    title: 'first',
    breaking: true,
    sql: \`-- breaking: yes
create table a (b text);\`,
  },
  {
    version: 2,
    title: 'more',
    breaking: false,
    sql: \`-- breaking: no

create index d on a (b);

create view c as
select 2;\`,
  },
]

export const statementTexts = {
  add: \`insert into a
values (?)\`,
  keyFind: "select 'b' from a",
} as const
`)
})

test.each([
  ['0001-first', 'create table a (b text);'],
  ['first', '-- breaking: yes\ncreate table a (b text);'],
])(
  'a migration without a number or without the word on older programs is refused: %s',
  (stem, text) => {
    const folder = packageOf({ [`tables/${stem}.sql`]: text, 'statements/a.sql': 'select 1' })
    expect(() => embeddedSql(folder)).toThrow(`${stem}: needs a name`)
  },
)

test('a text that a template literal would change is refused', () => {
  const folder = packageOf({ 'tables/none.txt': '', 'statements/a.sql': "select '\\n'" })
  expect(() => embeddedSql(folder)).toThrow('not fit for a template literal')
})
