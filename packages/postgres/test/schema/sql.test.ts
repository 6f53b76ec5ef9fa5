/** What holds for the SQL files, without a server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed, embeddedSql, generatedFile, readSql, type SqlSources } from '@sluice/embed-sql'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..', '..')
const sources = readSql(folder)
const current = embed(sources)
const names = new Set(current.sqlFunctions.map(({ name }) => name))

/** The plain names of functions that get another name when the text of one is changed. */
function renamedBy(stem: string, change: (text: string) => string): string[] {
  const functions = new Map(sources.functions)
  functions.set(stem, change(functions.get(stem) ?? ''))
  const changed: SqlSources = { ...sources, functions }
  return embed(changed)
    .sqlFunctions.filter(({ name }) => !names.has(name))
    .map(({ name }) => name.replace(/_[0-9a-f]{8}$/, ''))
}

test('the generated module is what the SQL files say; run npm run embed', () => {
  expect(readFileSync(join(folder, generatedFile), 'utf8')).toBe(embeddedSql(folder))
})

test('a function with another text has another name, and so have its callers', () => {
  expect(renamedBy('renew', (text) => text.replace("'50ms'", "'51ms'"))).toEqual(['renew'])
  const callers = renamedBy('queue-number', (text) => text.replace('stable', 'immutable'))
  expect(callers).toEqual(expect.arrayContaining(['queue_number', 'add', 'claim']))
  expect(callers).not.toContain('lock_buckets')
})

test('no statement and no function calls a function by its plain name', () => {
  const texts = [
    ...current.sqlFunctions.map(({ sql }) => sql),
    ...Object.values(current.statementTexts),
  ]
  const called = texts.flatMap((text) => [...text.matchAll(/\bsluice\.(\w+)\(/g)])
  expect(called.length).toBeGreaterThan(50)
  expect(called.map(([, name = '']) => name).filter((name) => !names.has(name))).toEqual([])
})

test('an advisory lock has the name of the schema, so that schemas of a database do not share it', () => {
  const texts = [...sources.functions.values(), ...sources.statements.values()]
  const locks = texts.flatMap((text) => [...text.matchAll(/advisory_xact_lock\([^;]*/g)])
  expect(locks.length).toBeGreaterThan(3)
  for (const [lock] of locks) expect(lock).toMatch(/'sluice\./)
})

/** Throws if a migration does more than add. */
function expectAdds(text: string): void {
  const adds =
    /^(create (table|index|sequence|type) |alter table \S+ (add column |set \()|alter type \S+ add value |select setval\()/
  for (const statement of text.replace(/^ *--.*$/gm, '').split(';')) {
    const trimmed = statement.trim()
    if (trimmed === '') continue
    expect(trimmed).toMatch(adds)
    // Programs of an older version do not write the column.
    if (/^alter table.*\bnot null\b/s.test(trimmed)) expect(trimmed).toMatch(/\bdefault\b/)
  }
}

test('migrations after the first only add: programs of older versions write to the same tables', () => {
  for (const [stem, text] of sources.migrations) {
    if (!stem.startsWith('0001')) expectAdds(text)
  }
  for (const text of [
    'alter table sluice.keys add column note text;',
    "-- Why.\nalter table sluice.keys add column note text not null default '';",
    'create table sluice.more (name text not null);\ncreate index more_name on sluice.more (name);',
  ]) {
    expect(() => expectAdds(text)).not.toThrow()
  }
  for (const text of [
    'alter table sluice.keys drop column why;',
    'alter table sluice.keys rename column why to reason;',
    'alter table sluice.keys add column note text not null;',
    'alter table sluice.keys alter column seq type numeric;',
    'create unique index once on sluice.keys (seq);',
    'create index more on sluice.keys (seq);\ndrop index sluice.keys_idle;',
    'update sluice.keys set seq = 0;',
  ]) {
    expect(() => expectAdds(text), text).toThrow()
  }
})
