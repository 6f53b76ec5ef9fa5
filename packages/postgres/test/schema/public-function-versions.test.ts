/** Which program installs or replaces the SQL functions that users call. */
import { embed, readSql } from '@sluice/embed-sql'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { migrate, postgresDriver } from '../../src/index.ts'
import { sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let made = 0

beforeAll(async () => {
  await sql(server.url, `create role versions_stranger login password 'secret'`)
})

// Files of this package share a process, and the next one gets the modules as they are.
afterAll(() => vi.resetModules())

function newSchema(): string {
  made += 1
  return `public_${made}`
}

describe('versions', () => {
  /** This package with another interface of the public functions, and with other functions. */
  async function otherVersion(interfaceOf: number, marker: string) {
    const sources = readSql(`${import.meta.dirname}/../..`)
    const functions = new Map(
      [...sources.functions].map(([stem, text]) => [
        stem,
        text.replace(/language (plpgsql|sql)/, `language $1 ${marker}`),
      ]),
    )
    const publics = new Map(
      [...sources.publics].map(([stem, text]) => [
        stem,
        text.replace('-- interface: 1', `-- interface: ${interfaceOf}`),
      ]),
    )
    vi.resetModules()
    vi.doMock('../../src/statements.generated.ts', () => embed({ ...sources, functions, publics }))
    const version = await import('../../src/index.ts')
    vi.doUnmock('../../src/statements.generated.ts')
    return version
  }

  const commentOf = async (schema: string): Promise<string> => {
    const { rows } = await server.pool.query(
      `select obj_description(p.oid, 'pg_proc') as comment from pg_proc p
      where p.pronamespace = $1::regnamespace and p.proname = 'add'`,
      [schema],
    )
    return rows.map(({ comment }) => comment).join()
  }

  test('an older program leaves a newer interface, and prunes nothing that it calls', async () => {
    const schema = newSchema()
    const newer = await otherVersion(2, 'parallel unsafe')
    await newer.migrate({ pool: server.pool, schema })
    const comment = await commentOf(schema)
    expect(comment).toContain('Sluice SQL 2')
    const { installed } = await migrate({ pool: server.pool, schema })
    expect(installed).not.toContain('add')
    expect(await commentOf(schema)).toBe(comment)
    await migrate({ pool: server.pool, schema }, { prune: true })
    await server.pool.query(`select ${schema}.add('q', 'a'), ${schema}.cancel('q', 'a')`)
  })

  test('the same interface with another text is replaced, a newer one replaces', async () => {
    const schema = newSchema()
    const older = await otherVersion(1, 'parallel unsafe')
    await older.migrate({ pool: server.pool, schema })
    const before = await commentOf(schema)
    expect((await migrate({ pool: server.pool, schema })).installed).toContain('add')
    expect(await commentOf(schema)).not.toBe(before)
    expect((await migrate({ pool: server.pool, schema })).installed).toEqual([])
    const newer = await otherVersion(2, 'parallel unsafe')
    expect((await newer.migrate({ pool: server.pool, schema })).installed).toContain('add')
  })

  test('a program that may not install them opens with any text of them, and without them', async () => {
    const schema = newSchema()
    await migrate({ pool: server.pool, schema })
    const mine = {
      connectionString: server.url,
      schema,
      migrate: 'verify',
      onWarning() {},
    } as const
    await server.pool.query(
      `drop function ${schema}.cancel; comment on function ${schema}.add is 'mine'`,
    )
    const driver = postgresDriver(mine)
    await driver.open({})
    await driver.close()
    // A role that may create, and owns nothing.
    await server.pool.query(`grant usage, create on schema ${schema} to versions_stranger;
      grant select on all tables in schema ${schema} to versions_stranger;
      grant select on all sequences in schema ${schema} to versions_stranger`)
    const other = await otherVersion(1, 'parallel unsafe')
    await migrate({ pool: server.pool, schema })
    await other.migrate({ pool: server.pool, schema, migrate: 'apply' })
    const url = new URL(server.url)
    url.username = 'versions_stranger'
    const stranger = postgresDriver({ connectionString: url.href, schema, onWarning() {} })
    await stranger.open({})
    await stranger.close()
  })
})
