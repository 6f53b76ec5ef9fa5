import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embed, embeddedSql, readSql } from '../src/embed-sql.ts'

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

test('migrations are numbered and keep their text, statements lose their comments and lines', () => {
  const folder = packageOf({
    'tables/0001-first.sql': '-- breaking: yes\ncreate table a (b text);\n',
    'tables/0002-more.sql': '-- breaking: no\n\ncreate index d on a (b);\n',
    'statements/key-find.sql': "-- Finds a key.\nselect 'b' from a\n",
    'statements/add.sql': '-- Adds.\ninsert into a\n  -- All of them.\n  values (?)\n',
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

create index d on a (b);\`,
  },
]

export const statementTexts = {
  add: 'insert into a values (?)',
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

test('a statement with a comment after its text is refused: what follows would be a part of it', () => {
  const folder = packageOf({ 'tables/none.txt': '', 'statements/a.sql': 'select 1 -- one\n+ 1' })
  expect(() => embeddedSql(folder)).toThrow('a: a comment needs a line of its own')
})

test('a text that a template literal would change is refused', () => {
  const folder = packageOf({ 'tables/none.txt': '', 'statements/a.sql': "select '\\n'" })
  expect(() => embeddedSql(folder)).toThrow('not fit for a template literal')
})

/** Functions of which each calls the one before it, and a statement that calls the last. */
const functions = {
  'tables/none.txt': '',
  'functions/key-lock.sql': [
    '-- Locks.',
    'create or replace function sluice.key_lock(a int) returns int',
    '-- @include settings',
    'return a;',
  ].join('\n'),
  'functions/add.sql': [
    'create or replace function sluice.add() returns int',
    'as $$ begin',
    "  perform setval('sluice.token', 1);",
    '  -- @include step where true',
    'end $$;',
  ].join('\n'),
  'parts/settings.sql': "set a = '1'\nset b = 2",
  'parts/step.sql': '-- One step.\nperform sluice.key_lock(1)\n  -- @argument\n;',
  'statements/add.sql': 'select sluice.add()',
}

function functionTexts(files: Readonly<Record<string, string>>): string {
  return embed(readSql(packageOf(files)))
    .sqlFunctions.map(({ sql }) => sql)
    .join('\n')
}

test('functions are installed under the hash of what they are and call, with their parts', () => {
  const { sqlFunctions, statementTexts } = embed(readSql(packageOf(functions)))
  const [lock, add] = sqlFunctions
  expect(lock?.name).toMatch(/^key_lock_[0-9a-f]{8}$/)
  expect(lock?.sql).toBe(
    `create or replace function sluice.${lock?.name}(a int) returns int\nset a = '1'\nset b = 2\nreturn a;`,
  )
  expect(add?.sql).toBe(
    [
      `create or replace function sluice.${add?.name}() returns int`,
      'as $$ begin',
      "  perform setval('sluice.token', 1);",
      `  perform sluice.${lock?.name}(1)`,
      '    where true',
      '  ;',
      'end $$;',
    ].join('\n'),
  )
  expect(statementTexts).toEqual({ add: `select sluice.${add?.name}()` })
  expect(embeddedSql(packageOf(functions))).toContain('export const sqlFunctions: readonly SqlF')
})

test('a comment changes no name; a changed callee changes those of its callers', () => {
  const before = functionTexts(functions)
  const said = functions['functions/add.sql'].replace('as $$', () => '-- Another word.\nas $$')
  expect(functionTexts({ ...functions, 'functions/add.sql': said })).toBe(before)
  const other = functionTexts({ ...functions, 'parts/settings.sql': "set a = '2'" })
  const namesIn = (text: string) => text.match(/(?:add|key_lock)_[0-9a-f]{8}/g)
  expect(namesIn(other)).toHaveLength(3)
  expect(namesIn(other)?.filter((name) => namesIn(before)?.includes(name))).toEqual([])
})

test.each([
  ['functions/add.sql', 'create function sluice.add() return 1;', 'has to begin with'],
  ['parts/step.sql', 'perform sluice.add()', 'calls itself'],
  [
    'functions/key-lock.sql',
    'create or replace function sluice.key_lock(\n-- @include x',
    'no part',
  ],
])('a function that cannot be named is refused: %s', (file, text, message) => {
  const files = { ...functions, [file]: text }
  if (message === 'calls itself') {
    files['functions/key-lock.sql'] = files['functions/key-lock.sql'].replace(
      'return a',
      'return sluice.add()',
    )
    files['functions/add.sql'] = functions['functions/add.sql'].replace('where true', '')
    files['parts/step.sql'] = 'perform sluice.key_lock(1);'
  }
  expect(() => functionTexts(files)).toThrow(message)
})

test('public functions keep their names, and call installed ones', () => {
  const folder = packageOf({
    'tables/0001-first.sql': '-- breaking: yes\ncreate table a (b text);\n',
    'functions/add.sql': 'create or replace function sluice.add(a text) returns int return 1;\n',
    'public/add.sql': `-- interface: 3
-- Adds a key.
create or replace function sluice.add(queue text, keys text[] default '{}')
returns int return sluice.add('a');
`,
  })
  const { publicFunctions, sqlFunctions } = embed(readSql(folder))
  const [inner] = sqlFunctions
  expect(publicFunctions).toEqual([
    {
      name: 'add',
      argumentTypes: 'text, text[]',
      summary: 'Adds a key.',
      interface: 3,
      hash: expect.stringMatching(/^[0-9a-f]{8}$/),
      sql: `create or replace function sluice.add(queue text, keys text[] default '{}')
returns int return sluice.${inner?.name}('a');`,
    },
  ])
  expect(embeddedSql(folder)).toContain(
    'export const publicFunctions: readonly PublicFunction[] = [',
  )
})

test.each([
  ['no interface', '-- Adds.\ncreate or replace function sluice.add() returns int return 1;'],
  [
    'another name',
    '-- interface: 1\n-- Adds.\ncreate or replace function sluice.put() returns int return 1;',
  ],
  [
    'an unknown call',
    '-- interface: 1\n-- Adds.\ncreate or replace function sluice.add() returns int return sluice.gone();',
  ],
])('a public function with %s is refused', (_, text) => {
  expect(() =>
    embed(
      readSql(
        packageOf({
          'public/add.sql': text,
          'tables/0001-a.sql': '-- breaking: no\n',
          'statements/a.sql': 'select 1',
        }),
      ),
    ),
  ).toThrow(/public\/add/)
})
