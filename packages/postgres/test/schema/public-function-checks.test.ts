/** What the SQL functions that users call refuse. */
import { checkDelay, checkKey, checkQueueName } from '@sluice/core'
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { migrationSql } from '../../src/index.ts'
import { sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let made = 0

function newSchema(): string {
  made += 1
  return `public_${made}`
}

describe('checks', () => {
  let schema: string
  beforeAll(async () => {
    schema = newSchema()
    await sql(server.url, migrationSql({ schema }))
  })

  async function refusal(text: string, values: readonly unknown[]): Promise<string | undefined> {
    try {
      await server.pool.query(text.replaceAll('sluice.', `${schema}.`), [...values])
      return undefined
    } catch (error) {
      expect((error as pg.DatabaseError).code, String(error)).toBe('22023')
      return (error as Error).message
    }
  }

  function isRefused(check: () => unknown): boolean {
    try {
      check()
      return false
    } catch {
      return true
    }
  }

  test('keys and queues are refused where the library refuses them', async () => {
    const texts = [
      '',
      ' ',
      'a',
      'ä'.repeat(256),
      `${'ä'.repeat(256)}a`,
      'x'.repeat(512),
      'x'.repeat(513),
      '😀'.repeat(128),
      'x'.repeat(128),
      'x'.repeat(129),
      'ä'.repeat(64),
      'ä'.repeat(65),
      "'; drop table keys; --",
      'sluice:metrics:q',
      'sluice:metrics',
    ]
    for (const text of texts) {
      for (const call of [
        "select sluice.add('q', $1)",
        "select sluice.add_after('q', $1, '1 s')",
        "select sluice.add_many('q', array['a', $1])",
        "select sluice.cancel('q', $1)",
      ]) {
        const refused = (await refusal(call, [text])) !== undefined
        expect(refused, `${call}: ${text}`).toBe(isRefused(() => checkKey('key', text)))
      }
      const refused = (await refusal("select sluice.add($1, 'k')", [text])) !== undefined
      expect(refused, text).toBe(isRefused(() => checkQueueName('name', text)))
    }
    for (const call of [
      'select sluice.add($1, $2)',
      "select sluice.add_after($1, $2, '1 s')",
      'select sluice.add_many($1, array[$2])',
      'select sluice.cancel($1, $2)',
    ]) {
      expect(await refusal(call, [null, 'k'])).toBe('sluice: queue must not be null')
      expect(await refusal(call, ['q', null])).toBe('sluice: key must not be null')
    }
  })

  test('a key that is JSON must be JSON, since a claim reads it as the item', async () => {
    expect(await refusal("select sluice.add('q', 'json:{\"a\":1}')", [])).toBeUndefined()
    expect(await refusal("select sluice.add('q', 'json:{\"a\":')", [])).toMatch(/^sluice: key must/)
    expect(await refusal("select sluice.add('q', 'json')", [])).toBeUndefined()
    // Not a value of the type jsonb.
    expect(await refusal("select sluice.add('q', $1)", ['json:"\\u0000"'])).toBeUndefined()
  })

  test('priorities, delays, modes and items', async () => {
    const cases: [string, unknown, boolean][] = [
      ["select sluice.add('q', 'k', priority => $1)", 1_000, true],
      ["select sluice.add('q', 'k', priority => $1)", -1_000, true],
      ["select sluice.add('q', 'k', priority => $1)", 1_001, false],
      ["select sluice.add('q', 'k', priority => $1)", -1_001, false],
      ["select sluice.add('q', 'k', priority => $1)", null, false],
      ["select sluice.add('q', 'k', dedupe => $1)", 'earliest', true],
      ["select sluice.add('q', 'k', dedupe => $1)", 'latest', false],
      ["select sluice.add('q', 'k', dedupe => $1)", null, false],
      ["select sluice.add('q', 'k', $1)", 'null', true],
      ["select sluice.add('q', 'k', $1)", JSON.stringify('x'.repeat(1_048_574)), true],
      ["select sluice.add('q', 'k', $1)", JSON.stringify('x'.repeat(1_048_575)), false],
      ["select sluice.add('q', 'k', $1)", JSON.stringify('ä'.repeat(524_288)), false],
      ["select sluice.add('q', 'k', $1)", '[{"a": 1.7976931348623157e308}]', true],
      ["select sluice.add('q', 'k', $1)", '[{"a": -1e309}]', false],
      ["select sluice.add('q', 'k', $1)", '[{"a": 1e309}]', false],
      ["select sluice.add_many('q', array['a', 'b'], array[$1]::jsonb[])", '1', false],
      ["select sluice.add_many('q', array['a'], array[$1, '2']::jsonb[])", '1', false],
      ["select sluice.add_many('q', null, array[$1]::jsonb[])", '1', false],
    ]
    for (const [call, value, isFine] of cases) {
      const refused = await refusal(call, [value])
      expect(refused === undefined, `${call} ${String(value).slice(0, 50)}: ${refused}`).toBe(
        isFine,
      )
    }
    for (const ms of [-1e9, -1, 0, 1, 315_576_000_000, 315_576_000_001]) {
      const call = "select sluice.add_after('q', 'k', $1::float8 * interval '1 ms')"
      const refused = (await refusal(call, [ms])) !== undefined
      expect(refused, `${ms} ms`).toBe(isRefused(() => checkDelay('ms', ms)))
    }
    expect(await refusal("select sluice.add_after('q', 'k', null)", [])).toMatch(/delay must/)
    // From version 17 on, intervals can be infinite.
    const { rows } = await server.pool.query('show server_version_num')
    for (const delay of rows[0].server_version_num < 170_000 ? [] : ['infinity', '-infinity']) {
      const call = `select sluice.add_after('q', 'k', '${delay}')`
      expect(await refusal(call, []), delay).toMatch(/delay must/)
    }
  })

  test('the priority is 0 and the mode client-go unless the call says otherwise', async () => {
    const outcomes: string[] = []
    for (const call of [
      "add('defaults', 'a')",
      "add_after('defaults', 'a', '1 hour')",
      "add_after('defaults', 'b', '1 hour')",
      "add('defaults', 'b')",
      "add_after('defaults', 'c', '1 hour')",
      "add_many('defaults', array['c', 'd'])",
    ]) {
      const { rows } = await server.pool.query(`select (${schema}.${call})::text as outcome`)
      outcomes.push(...rows.map(({ outcome }) => outcome))
    }
    // Under earliest, the second add of each key would be unchanged or moved.
    expect(outcomes).toEqual([
      'added',
      'added',
      'added',
      'added',
      'added',
      '(c,added)',
      '(d,added)',
    ])
    const text = `select distinct priority from ${schema}.keys where queue = 'defaults'`
    expect((await server.pool.query(text)).rows).toEqual([{ priority: 0 }])
  })

  test('no keys are no error, and null is', async () => {
    expect(await refusal("select sluice.add_many('q', '{}')", [])).toBeUndefined()
    expect(await refusal("select sluice.add_many('q', null)", [])).toMatch(/keys must not be null/)
  })
})
