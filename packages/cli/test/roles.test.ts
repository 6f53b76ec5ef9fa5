import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { cli, output } from './cli.ts'
import { postgresForFile } from './stores.ts'

const postgres = postgresForFile()

describe('with the rights that migrate --roles prints', () => {
  const schema = `roles_${randomUUID().replaceAll('-', '_')}`
  const names = ['owner', 'runtime', 'read'].map((name) => `${schema}_${name}`)

  const as = (role: number): string => {
    const url = new URL(postgres.url())
    url.username = names[role] ?? ''
    url.password = 'a-password'
    return `${url.href}?schema=${schema}`
  }

  async function sql(...texts: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.url() })
    await client.connect()
    for (const text of texts) await client.query(text)
    await client.end()
  }

  beforeAll(async () => {
    const store = `${postgres.url()}?schema=${schema}`
    await sql(...names.map((name) => `create role ${name} login password 'a-password'`))
    await output(['migrate'], { store })
    const [owner = '', runtime = '', readOnly = ''] = names
    const options = ['--owner', owner, '--runtime', runtime, '--read-only', readOnly]
    await sql(await output(['migrate', '--roles', ...options], { store }))
    await output(['add', 'orders', 'a'], { store })
  })

  test('the read-only role can read everything and change nothing', async () => {
    const store = as(2)
    // As in a store that has not been written to for a while, whose next tick writes the time.
    await sql(`select setval('${schema}.latest', 1)`)
    for (const argv of [
      ['export', 'orders'],
      ['queues'],
      ['ls', 'orders'],
      ['get', 'orders', 'a'],
      ['top'],
      ['workers'],
    ]) {
      expect(await cli(argv, { store })).toMatchObject({ code: 0 })
    }
    expect(await output(['explain', 'orders', 'a'], { store })).toContain('a of orders is ready')
    for (const argv of [
      ['add', 'orders', 'b'],
      ['purge', 'orders', '--yes'],
      ['pause', 'orders'],
    ]) {
      const { code, err } = await cli(argv, { store })
      expect(code, argv.join(' ')).toBe(1)
      expect(err).toMatch(/permission denied.*\[ERR_STORE\]/)
      expect(err).not.toContain('a-password')
    }
  })

  test('programs can do all that is done to keys and queues', async () => {
    const store = as(1)
    expect(await output(['add', 'orders', 'b'], { store })).toBe('b added\n')
    expect(await output(['pause', 'orders'], { store })).toBe('orders paused\n')
    expect(await output(['resume', 'orders'], { store })).toBe('orders resumed\n')
    expect(await output(['purge', 'orders', '--yes'], { store })).toBe('2 keys of orders removed\n')
    // Others read it.
    await output(['add', 'orders', 'a'], { store })
  })
})
