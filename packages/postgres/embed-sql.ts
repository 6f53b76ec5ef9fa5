/**
 * Writes `src/statements.generated.ts` from the files in `sql`, so that the package reads no files
 * when it runs. `npm run embed` after every change there; a test fails if it was forgotten.
 *
 * The name of an installed function ends in a hash of its text, so that two versions of this package
 * each call their own functions in one schema. In the files, functions have their plain names.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Migration, SqlFunction } from './src/schema/migration.ts'

const home = new URL('sql/', import.meta.url)

/** The texts of one folder, by the names of their files without `.sql`, in order. */
export type SqlTexts = ReadonlyMap<string, string>

/** Everything that is embedded. */
export interface SqlSources {
  /** Migrations of tables, indexes and sequences. */
  readonly tables: SqlTexts
  readonly functions: SqlTexts
  /** Texts that functions include. */
  readonly parts: SqlTexts
  readonly statements: SqlTexts
}

/** What the generated module exports. */
export interface Embedded {
  readonly migrations: readonly Migration[]
  readonly sqlFunctions: readonly SqlFunction[]
  readonly statementTexts: Readonly<Record<string, string>>
}

function textsIn(folder: string): SqlTexts {
  const names = readdirSync(new URL(folder, home)).filter((name) => name.endsWith('.sql'))
  return new Map(
    names
      .sort()
      .map((name) => [
        name.slice(0, -'.sql'.length),
        readFileSync(new URL(`${folder}${name}`, home), 'utf8').trim(),
      ]),
  )
}

/** The files in `sql`. */
export function readSources(): SqlSources {
  return {
    tables: textsIn('tables/'),
    functions: textsIn('functions/'),
    parts: textsIn('parts/'),
    statements: textsIn('statements/'),
  }
}

/** Comments explain a statement to readers; a server need not parse them at every start. */
function withoutComments(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .trim()
}

/** Puts the text of `parts/NAME.sql` in place of each `-- @include NAME ARGUMENT`. */
function withParts(text: string, parts: SqlTexts): string {
  return text.replace(
    /^( *)-- @include (\S+)(?: (.*))?$/gm,
    (_, indent: string, name: string, argument: string | undefined) => {
      const part = parts.get(name)
      if (part === undefined) throw new Error(`there is no part ${name}`)
      const filled = argument === undefined ? part : part.replace('-- @argument', () => argument)
      return filled.replace(/^/gm, indent)
    },
  )
}

function plainName(stem: string): string {
  return stem.replaceAll('-', '_')
}

/** Functions by their plain names, each after those that it calls. */
function namedByText({ functions, parts }: SqlSources): ReadonlyMap<string, SqlFunction> {
  const stems = new Map([...functions.keys()].map((stem) => [plainName(stem), stem]))
  const done = new Map<string, SqlFunction>()
  const begun = new Set<string>()

  function installedName(name: string, by: string): string {
    if (name === by || !stems.has(name)) return name
    if (!done.has(name)) embed(name)
    return done.get(name)?.name ?? name
  }

  function embed(name: string): void {
    if (begun.has(name)) throw new Error(`the function ${name} calls itself through others`)
    begun.add(name)
    const source = functions.get(stems.get(name) ?? '') ?? ''
    const head = `create or replace function sluice.${name}(`
    const expanded = withoutComments(withParts(source, parts))
    if (!expanded.startsWith(head)) throw new Error(`${name}: does not begin with "${head}"`)
    const text = withCalls(expanded, (called) => installedName(called, name))
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
    const installed = `${name}_${hash}`
    const sql = text.replace(head, () => `create or replace function sluice.${installed}(`)
    done.set(name, { name: installed, sql })
  }

  for (const name of stems.keys()) if (!done.has(name)) embed(name)
  return done
}

/** The same text, calling functions by other names. */
function withCalls(text: string, nameOf: (name: string) => string): string {
  return text.replace(/\bsluice\.(\w+)\(/g, (_, name: string) => `sluice.${nameOf(name)}(`)
}

/**
 * Refuses a migration after the first that does more than add: programs of an older version go on
 * writing to the same tables.
 */
export function checkAdds(stem: string, text: string): void {
  const adds =
    /^(create (table|index|sequence|type) |alter table \S+ (add column |set \()|alter type \S+ add value |select setval\()/
  for (const statement of withoutComments(text).split(/;\s*/)) {
    if (statement === '') continue
    const wantsValue = /\bnot null\b/.test(statement) && !/\bdefault\b/.test(statement)
    const isAltered = statement.startsWith('alter table')
    if (!adds.test(statement) || (isAltered && wantsValue)) {
      throw new Error(`${stem}: a migration after the first may only add: ${statement}`)
    }
  }
}

function migration(stem: string, text: string): Migration {
  const [, version, title = ''] = /^(\d{4})-([a-z-]+)$/.exec(stem) ?? []
  const breaking = /^-- breaking: (yes|no)$/m.exec(text.split('\n')[0] ?? '')?.[1]
  if (version === undefined || breaking === undefined) {
    throw new Error(`${stem}: wants a name like 0001-title and a first line "-- breaking: yes"`)
  }
  if (breaking === 'no') checkAdds(stem, text)
  return { version: Number(version), title, breaking: breaking === 'yes', sql: text }
}

function camelCase(stem: string): string {
  return stem.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** What the generated module exports, for these sources. */
export function embed(sources: SqlSources): Embedded {
  const functions = namedByText(sources)
  const statements = [...sources.statements].map(([stem, text]) => [
    camelCase(stem),
    withCalls(withoutComments(text), (name) => functions.get(name)?.name ?? name),
  ])
  return {
    migrations: [...sources.tables].map(([stem, text]) => migration(stem, text)),
    sqlFunctions: [...functions.values()],
    statementTexts: Object.fromEntries(statements) as Record<string, string>,
  }
}

function literal(text: string): string {
  if (/[`\\]|\$\{/.test(text)) throw new Error(`not fit for a template literal: ${text}`)
  if (text.includes('\n')) return `\`${text}\``
  return text.includes("'") ? `"${text}"` : `'${text}'`
}

/** The text of the generated module. */
export function moduleText({ migrations, sqlFunctions, statementTexts }: Embedded): string {
  return [
    '// Generated from sql/ by embed-sql.ts; change those files instead.',
    "import type { Migration, SqlFunction } from './schema/migration.ts'",
    '',
    'export const migrations: readonly Migration[] = [',
    ...migrations.flatMap(({ version, title, breaking, sql }) => [
      '  {',
      `    version: ${version},`,
      `    title: '${title}',`,
      `    breaking: ${breaking},`,
      `    sql: ${literal(sql)},`,
      '  },',
    ]),
    ']',
    '',
    'export const sqlFunctions: readonly SqlFunction[] = [',
    ...sqlFunctions.flatMap(({ name, sql }) => [
      '  {',
      `    name: '${name}',`,
      `    sql: ${literal(sql)},`,
      '  },',
    ]),
    ']',
    '',
    'export const statementTexts = {',
    ...Object.entries(statementTexts).map(([name, text]) => `  ${name}: ${literal(text)},`),
    '} as const',
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = moduleText(embed(readSources()))
  writeFileSync(new URL('./src/statements.generated.ts', import.meta.url), text)
}
