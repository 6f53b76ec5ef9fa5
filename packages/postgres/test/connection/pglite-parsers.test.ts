/** PGlite makes of columns what the program has set for its own queries. */
import { PGlite } from '@electric-sql/pglite'
import { expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'

/** What a program makes of a boolean, a bigint and a text. */
const parsers = {
  16: (text: string) => (text === 't' ? 1 : 0),
  20: (text: string) => ({ digits: text }),
  25: (text: string) => text.toUpperCase(),
}

test('columns are read as the database says them, whatever parsers the program has set', async () => {
  const client = await PGlite.create({ parsers })
  const driver = postgresDriver({ client, onWarning() {} })
  await driver.open({})
  await driver.add('q', [ask('a'), ask('b')], askOptions)
  expect(await driver.operate?.park('q', ['b'])).toEqual(['changed'])
  expect((await driver.list('q', { limit: 10 })).rows).toMatchObject([
    { key: 'a', parked: false },
    { key: 'b', parked: true },
  ])
  await driver.operate?.pause('q')
  expect(await driver.counts('q', { cap: 10 })).toMatchObject({ paused: true, parked: 1, ready: 1 })
  await driver.close()
  // The program's own queries are parsed as before.
  expect((await client.query('select true as found')).rows).toEqual([{ found: 1 }])
  await client.close()
})
