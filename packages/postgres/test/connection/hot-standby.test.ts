/** A server that only reads: a dashboard may be connected to a standby, to keep load from the primary. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '@sluice/needs'
import { expect, onTestFinished, test } from 'vitest'
import { doctor, postgresDriver } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'
import { sql, startServer } from '../support/server.ts'

// A server that is not ours cannot be stopped.
const isOurs = process.env['SLUICE_TEST_POSTGRES_URL'] === undefined

/** Roles whose statements are sent in transactions. A driver does that also after a conflict with recovery. */
const roles = {
  read_only: 'default_transaction_read_only = on',
  repeatable: "default_transaction_isolation = 'repeatable read'",
  coarse: 'extra_float_digits = 0',
}

test.skipIf(!needs('a server of our own', isOurs))(
  'a standby serves what reads, to roles with other settings too, and all once it is promoted',
  async () => {
    const server = await startServer()
    onTestFinished(() => server.stop())
    for (const [role, setting] of Object.entries(roles)) {
      await sql(server.url, `create role ${role} superuser login password 'secret'`)
      await sql(server.url, `alter role ${role} set ${setting}`)
    }
    const [primary, ...others] = ['postgres', ...Object.keys(roles)].map((role) => {
      const url = new URL(server.url)
      url.username = role
      const driver = postgresDriver({ connectionString: url.href, notify: false })
      onTestFinished(() => driver.close())
      return driver
    })
    const drivers = [primary!, ...others]
    await primary!.open({})
    await primary!.add('q', [ask('a')], askOptions)
    const [folder] = await sql(server.url, 'show data_directory')
    await server.crash()
    writeFileSync(join(folder?.rows[0].data_directory, 'standby.signal'), '')
    // It has started once it takes writes.
    const started = server.start()
    const reads = async () =>
      (await sql(server.url, 'select pg_is_in_recovery() as reads'))[0]?.rows
    await expect.poll(() => reads().catch(() => undefined)).toEqual([{ reads: true }])
    for (const driver of drivers) {
      await driver.open({})
      expect((await driver.counts('q', { cap: 10 })).ready).toBe(1)
      expect((await driver.list('q', { limit: 10 })).rows).toMatchObject([{ key: 'a' }])
      expect(await driver.queues?.()).toEqual(['q'])
      const adding = driver.add('q', [ask('b')], askOptions)
      const message = expect.stringContaining('this server is a standby')
      await expect(adding).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true, message })
    }
    const findings = await doctor({ connectionString: server.url })
    expect(findings.find(({ check }) => check === 'listen')).toMatchObject({
      summary: expect.stringMatching(/^listening for notices failed: .*; this server is a standby/),
    })
    await sql(server.url, 'select pg_promote()')
    await started
    for (const [at, driver] of drivers.entries()) {
      const added = await driver.add('q', [ask(`after ${at}`)], askOptions)
      expect(added).toMatchObject([{ outcome: 'added' }])
    }
  },
)
