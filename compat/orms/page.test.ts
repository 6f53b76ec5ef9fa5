/** The page names each library with the version that is installed here. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync(`${import.meta.dirname}/../../docs/guides/with-your-orm.md`, 'utf8')

const packages: Readonly<Record<string, string>> = {
  pg: 'pg',
  Drizzle: 'drizzle-orm',
  Kysely: 'kysely',
  Prisma: '@prisma/client',
  Knex: 'knex',
  TypeORM: 'typeorm',
  MikroORM: '@mikro-orm/postgresql',
  'postgres.js': 'postgres',
  PGlite: '@electric-sql/pglite',
  'Drizzle on better-sqlite3': 'drizzle-orm',
  'Kysely on better-sqlite3': 'kysely',
  'better-sqlite3': 'better-sqlite3',
}

/** The cells of each row that ends with a version. */
const rows = page
  .split('\n')
  .map((line) => line.slice(1, -1).split('|'))
  .filter((cells) => cells.length === 3 && /^\d+\.\d+$/.test(cells[2]?.trim() ?? ''))
  .map(([name = '', , version = '']) => [name.trim().replaceAll('`', ''), version.trim()])

/** The minor version that is installed. */
function installed(name: string): string {
  const file = `${import.meta.dirname}/../node_modules/${name}/package.json`
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }
  return version.split('.').slice(0, 2).join('.')
}

test('every library has its row, with the version that the tests ran with', () => {
  expect(rows).toEqual(Object.entries(packages).map(([row, name]) => [row, installed(name)]))
})
