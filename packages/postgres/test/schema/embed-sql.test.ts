import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkAdds, embed, moduleText, readSources, type SqlSources } from '../../embed-sql.ts'

const sources = readSources()

/** The same sources, with the text of one function changed. */
function changed(stem: string, change: (text: string) => string): SqlSources {
  const functions = new Map(sources.functions)
  functions.set(stem, change(functions.get(stem) ?? ''))
  return { ...sources, functions }
}

function namesOf(from: SqlSources): ReadonlySet<string> {
  return new Set(embed(from).sqlFunctions.map(({ name }) => name))
}

const before = namesOf(sources)

/** The plain names of functions that are installed under other names than before. */
function renamed(from: SqlSources): string[] {
  return [...namesOf(from)]
    .filter((name) => !before.has(name))
    .map((name) => name.replace(/_[0-9a-f]{8}$/, ''))
    .sort()
}

test('the generated module is what the SQL files say; run npm run embed', () => {
  const written = readFileSync(
    new URL('../../src/statements.generated.ts', import.meta.url),
    'utf8',
  )
  expect(moduleText(embed(sources))).toBe(written)
})

test('a function with another text has another name, and so have its callers', () => {
  const renew = changed('renew', (text) => text.replace("'50ms'", "'51ms'"))
  expect(renamed(renew)).toEqual(['renew'])
  const number = changed('queue-number', (text) => text.replace('stable', 'immutable'))
  expect(renamed(number)).toContain('queue_number')
  expect(renamed(number)).toContain('claim')
  expect(renamed(number)).not.toContain('lock_buckets')
  expect(embed(number).statementTexts['claim']).not.toBe(embed(sources).statementTexts['claim'])
})

test('a comment changes no name', () => {
  expect(renamed(changed('renew', (text) => `-- Another word.\n${text}`))).toEqual([])
})

test('no statement and no function calls a function by its plain name', () => {
  const { sqlFunctions, statementTexts } = embed(sources)
  const texts = [...sqlFunctions.map(({ sql }) => sql), ...Object.values(statementTexts)]
  const called = texts.flatMap((text) => [...text.matchAll(/\bsluice\.(\w+)\(/g)])
  expect(called.length).toBeGreaterThan(50)
  expect(called.map(([, name]) => name).filter((name) => !before.has(name ?? ''))).toEqual([])
})

test('a migration after the first may only add', () => {
  for (const text of [
    'alter table sluice.keys add column note text;',
    'alter table sluice.keys add column note text not null default 0;',
    'create table sluice.more (name text not null);\ncreate index more_name on sluice.more (name);',
  ]) {
    expect(() => checkAdds('0002-more', text)).not.toThrow()
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
    expect(() => checkAdds('0002-more', text), text).toThrow('may only add')
  }
})
