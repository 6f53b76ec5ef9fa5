/**
 * Turns the SQL files of a driver into one TypeScript module, so that the published package reads no
 * files when it runs.
 *
 * - `sql/tables/0001-title.sql` is a migration; so is a folder `0001-title`, whose files follow one
 *   another. The first line says whether older programs can still work with the store after it:
 *   `-- breaking: yes` or `no`.
 * - `sql/statements/some-name.sql` is a statement, under the name `someName` and without its
 *   comments.
 *
 * `npm run embed` in the package writes the module; a test of the package fails if it is out of date.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The generated module, below the folder of its package. */
export const generatedFile = 'src/statements.generated.ts'

interface SqlFile {
  readonly stem: string
  readonly text: string
}

function sqlFilesIn(folder: string): SqlFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      stem: name.slice(0, -'.sql'.length),
      text: readFileSync(join(folder, name), 'utf8').trim(),
    }))
}

function migrationsIn(folder: string): SqlFile[] {
  const folders = readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isDirectory())
    .map((stem) => {
      const texts = sqlFilesIn(join(folder, stem)).map(({ text }) => text)
      return { stem, text: texts.join('\n\n') }
    })
  return [...sqlFilesIn(folder), ...folders].sort((a, b) => (a.stem < b.stem ? -1 : 1))
}

function camelCase(stem: string): string {
  return stem.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Comments are for readers of the file; the database would parse them at every start. */
function withoutComments(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .trim()
}

function literal(text: string): string {
  if (/[`\\]|\$\{/.test(text)) throw new Error(`not fit for a template literal: ${text}`)
  if (text.includes('\n')) return `\`${text}\``
  return text.includes("'") ? `"${text}"` : `'${text}'`
}

function migration({ stem, text }: SqlFile): string {
  const [, version, title = ''] = /^(\d{4})-([a-z-]+)$/.exec(stem) ?? []
  const breaking = /^-- breaking: (yes|no)$/.exec(text.split('\n')[0] ?? '')?.[1]
  if (version === undefined || breaking === undefined) {
    throw new Error(`${stem}: needs a name like 0001-title and a first line "-- breaking: yes"`)
  }
  return [
    '  {',
    `    version: ${Number(version)},`,
    `    title: '${title}',`,
    `    breaking: ${breaking === 'yes'},`,
    `    sql: ${literal(text)},`,
    '  },',
  ].join('\n')
}

/** The text of the generated module of the package in `packageFolder`. */
export function embeddedSql(packageFolder: string): string {
  const sql = join(packageFolder, 'sql')
  return [
    '// Generated from sql/ by tools/embed-sql; change those files instead.',
    "import type { Migration } from './schema/migration.ts'",
    '',
    'export const migrations: readonly Migration[] = [',
    ...migrationsIn(join(sql, 'tables')).map(migration),
    ']',
    '',
    'export const statementTexts = {',
    ...sqlFilesIn(join(sql, 'statements')).map(
      ({ stem, text }) => `  ${camelCase(stem)}: ${literal(withoutComments(text))},`,
    ),
    '} as const',
    '',
  ].join('\n')
}
