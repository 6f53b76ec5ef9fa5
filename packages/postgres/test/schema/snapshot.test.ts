/** The whole schema, as a server has it after it was made, is in the repository. */
import { needs } from '@sluice/needs'
import { describe, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { dumpSchema } from '../support/dump-schema.ts'
import { poolOf, startServer } from '../support/server.ts'

// Servers of other versions describe the same schema in other words.
const isOurs = process.env['SLUICE_TEST_POSTGRES_URL'] === undefined

describe.skipIf(!needs('a server of our own', isOurs))('the schema', () => {
  test('is the one in sql/schema.snapshot.sql; vitest -u writes it', async () => {
    const server = await startServer()
    const pool = poolOf(server.url)
    const driver = postgresDriver({ pool, schema: 'snapshot', onWarning() {} })
    await driver.open({})
    const dump = await dumpSchema(pool, 'snapshot')
    await driver.close()
    await pool.end()
    await server.stop()
    const head = '-- Written from a server by test/schema/snapshot.test.ts, with vitest -u.\n\n'
    await expect(head + dump).toMatchFileSnapshot('../../sql/schema.snapshot.sql')
  })
})
