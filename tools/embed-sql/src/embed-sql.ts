/**
 * Turns the SQL files of a driver into one TypeScript module, so that the published package reads no
 * files when it runs.
 *
 * - `sql/tables/0001-title.sql` is a migration. The first line says whether older programs can still
 *   work with the store after it: `-- breaking: yes` or `no`.
 * - `sql/statements/some-name.sql` is a statement, under the name `someName`, without its comments and in
 *   one line.
 * - `sql/functions/some-name.sql` is the function `sluice.some_name` of a database that has stored
 *   functions, `sql/public/some-name.sql` one that users call, and `sql/parts/name.sql` a text that
 *   functions and statements include: see sql-functions.ts.
 *
 * `npm run embed` in the package writes the module; a test of the package fails if it is out of date.
 */
import { join } from 'node:path'
import {
  type PublicFunction,
  publicFunctions,
  type SqlFunction,
  sqlFunctions,
  withCalls,
  withoutComments,
  withParts,
} from './sql-functions.ts'
import { camelCase, literal, type Texts, textsIn } from './text-files.ts'

/** The generated module, below the folder of its package. */
export const generatedFile = 'src/statements.generated.ts'

/** The SQL files of a package. */
export interface SqlSources {
  readonly migrations: Texts
  readonly functions: Texts
  readonly publics: Texts
  readonly parts: Texts
  readonly statements: Texts
}

/** One migration, as the generated module has it. */
export interface EmbeddedMigration {
  readonly version: number
  readonly title: string
  readonly breaking: boolean
  readonly sql: string
}

/** What the generated module exports. */
export interface Embedded {
  readonly migrations: readonly EmbeddedMigration[]
  readonly sqlFunctions: readonly SqlFunction[]
  readonly publicFunctions: readonly PublicFunction[]
  readonly statementTexts: Readonly<Record<string, string>>
}

/** Reads the SQL files of the package in `packageFolder`. */
export function readSql(packageFolder: string): SqlSources {
  const sql = join(packageFolder, 'sql')
  return {
    migrations: textsIn(join(sql, 'tables'), '.sql'),
    functions: textsIn(join(sql, 'functions'), '.sql'),
    publics: textsIn(join(sql, 'public'), '.sql'),
    parts: textsIn(join(sql, 'parts'), '.sql'),
    statements: textsIn(join(sql, 'statements'), '.sql'),
  }
}

function migrationOf(stem: string, text: string): EmbeddedMigration {
  const [, version, title = ''] = /^(\d{4})-([a-z-]+)$/.exec(stem) ?? []
  const breaking = /^-- breaking: (yes|no)$/.exec(text.split('\n')[0] ?? '')?.[1]
  if (version === undefined || breaking === undefined) {
    throw new Error(`${stem}: needs a name like 0001-title and a first line "-- breaking: yes"`)
  }
  return { version: Number(version), title, breaking: breaking === 'yes', sql: text }
}

/** Without the indentation, which only readers of the file need: programs bundle and send the text. */
function inOneLine(stem: string, text: string): string {
  if (text.includes('--')) throw new Error(`${stem}: a comment needs a line of its own`)
  return text.replace(/\s*\n\s*/g, ' ')
}

/** What the generated module of these sources exports. */
export function embed({ migrations, functions, publics, parts, statements }: SqlSources): Embedded {
  const installed = sqlFunctions(functions, parts)
  const statementTexts: Record<string, string> = {}
  for (const [stem, text] of statements) {
    statementTexts[camelCase(stem)] = withCalls(
      inOneLine(stem, withoutComments(withParts(text, parts))),
      (name) => installed.get(name)?.name ?? name,
    )
  }
  return {
    migrations: [...migrations].map(([stem, text]) => migrationOf(stem, text)),
    sqlFunctions: [...installed.values()],
    publicFunctions: publicFunctions(publics, parts, installed),
    statementTexts,
  }
}

/** The text of the generated module of the package in `packageFolder`. */
export function embeddedSql(packageFolder: string): string {
  const embedded = embed(readSql(packageFolder))
  const { migrations, sqlFunctions: functions, publicFunctions: publics, statementTexts } = embedded
  const types = [
    'Migration',
    ...(publics.length > 0 ? ['PublicFunction'] : []),
    ...(functions.length > 0 ? ['SqlFunction'] : []),
  ].join(', ')
  return [
    '// Generated from sql/ by tools/embed-sql; change those files instead.',
    `import type { ${types} } from './schema/migration.ts'`,
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
    ...(functions.length > 0 ? functionLines(functions) : []),
    ...(publics.length > 0 ? publicLines(publics) : []),
    'export const statementTexts = {',
    ...Object.entries(statementTexts).map(([name, text]) => `  ${name}: ${literal(text)},`),
    '} as const',
    '',
  ].join('\n')
}

function functionLines(functions: readonly SqlFunction[]): readonly string[] {
  return [
    'export const sqlFunctions: readonly SqlFunction[] = [',
    ...functions.flatMap(({ name, sql }) => [
      '  {',
      `    name: '${name}',`,
      `    sql: ${literal(sql)},`,
      '  },',
    ]),
    ']',
    '',
  ]
}

function publicLines(publics: readonly PublicFunction[]): readonly string[] {
  return [
    'export const publicFunctions: readonly PublicFunction[] = [',
    ...publics.flatMap((one) => [
      '  {',
      `    name: '${one.name}',`,
      `    argumentTypes: '${one.argumentTypes}',`,
      `    summary: ${literal(one.summary)},`,
      `    interface: ${one.interface},`,
      `    hash: '${one.hash}',`,
      `    sql: ${literal(one.sql)},`,
      '  },',
    ]),
    ']',
    '',
  ]
}
