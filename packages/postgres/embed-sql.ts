/**
 * Writes `src/statements.generated.ts` from the files in `sql`, so that the package reads no files
 * when it runs. `pnpm embed` after every change there; a test says so if it was forgotten.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const home = new URL('sql/', import.meta.url)

function filesIn(folder: string): { readonly stem: string; readonly text: string }[] {
  return readdirSync(new URL(folder, home))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      stem: name.slice(0, -'.sql'.length),
      text: readFileSync(new URL(`${folder}${name}`, home), 'utf8').trim(),
    }))
}

function camelCase(stem: string): string {
  return stem.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Comments explain a statement to readers; a server need not parse them at every start. */
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

/** A folder such as `0001-first` is one migration: its files, one after another. */
function migration(name: string): string {
  const [, version, title = ''] = /^(\d{4})-([a-z-]+)$/.exec(name) ?? []
  const text = filesIn(`migrations/${name}/`)
    .map((file) => file.text)
    .join('\n\n')
  const breaking = /^-- breaking: (yes|no)$/m.exec(text.split('\n')[0] ?? '')?.[1]
  if (version === undefined || breaking === undefined) {
    throw new Error(`${name}: wants a name like 0001-title and a first line "-- breaking: yes"`)
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

/** The text of the generated file. */
export function embedded(): string {
  const statements = filesIn('statements/').map(
    ({ stem, text }) => `  ${camelCase(stem)}: ${literal(withoutComments(text))},`,
  )
  return [
    '// Generated from sql/ by embed-sql.ts; change those files instead.',
    "import type { Migration } from './schema/migration.ts'",
    '',
    'export const migrations: readonly Migration[] = [',
    ...readdirSync(new URL('migrations/', home)).sort().map(migration),
    ']',
    '',
    'export const statementTexts = {',
    ...statements,
    '} as const',
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('./src/statements.generated.ts', import.meta.url), embedded())
}
