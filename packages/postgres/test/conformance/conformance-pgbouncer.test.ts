/** Through a pooler in transaction mode: no session, no LISTEN, no prepared statements. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { CreateSubject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { needs } from '@sluice/needs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'
import { installed } from '../support/installed.ts'
import { type Pooler, pgbouncerPath, startPooler } from '../support/pgbouncer.ts'
import { poolOf, startServer, type TestServer } from '../support/server.ts'
import { subjectsOn } from '../support/subjects.ts'

describe.skipIf(!needs('pgbouncer', pgbouncerPath !== undefined))('behind pgbouncer', () => {
  let server: TestServer
  let pooler: Pooler
  let pool: pg.Pool
  let create: CreateSubject

  beforeAll(async () => {
    server = await startServer()
    pooler = await startPooler(server)
    pool = poolOf(pooler.url, 6)
    // A poll within every pause of a case that waits for no wake.
    create = subjectsOn({ url: server.socketUrl, driver: { pool, pollMs: 50 } })
  })

  afterAll(async () => {
    await pool.end()
    await pooler.stop()
    await server.stop()
  })

  test('a program that does nothing else gets the findings of doctor', async () => {
    const driver = postgresDriver({ pool, schema: 'examined', notify: false })
    await driver.open({})
    await driver.close()
    const script = fileURLToPath(new URL('../children/examine-store.ts', import.meta.url))
    const flags = ['--experimental-strip-types', '--no-warnings', '--conditions=sluice-source']
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...flags,
      script,
      pooler.url,
      'examined',
    ])
    expect(stdout.trim().split('\n')).toEqual(
      expect.arrayContaining(['schema ok', 'listen warning', 'workers ok']),
    )
  })

  test('it is noticed that notices do not come, and said once', async () => {
    const warnings: string[] = []
    let warned = (): void => {}
    const warning = new Promise<void>((resolve) => {
      warned = resolve
    })
    const driver = postgresDriver({
      connectionString: pooler.url,
      schema: 'notices',
      pollMs: 20,
      onWarning(message) {
        warnings.push(message)
        warned()
      },
    })
    await driver.open({})
    let woken = (): void => {}
    const stop = await driver.watch?.(() => woken())
    // Nobody does anything: the poll wakes.
    await new Promise<void>((resolve) => {
      woken = resolve
    })
    await warning
    expect(warnings).toEqual([expect.stringContaining('LISTEN does not work')])
    await stop?.()
    const again = await driver.watch?.(() => {})
    expect(warnings).toHaveLength(1)
    await again?.()
    await driver.close()
  })

  test('a pooler in session mode that has no connection left is named', async () => {
    const full = await startPooler(server, 'session', 1)
    const holder = new pg.Client({ connectionString: full.url })
    holder.on('error', () => {})
    await holder.connect()
    await holder.query('select 1')
    const options = { connectionString: full.url, timeoutMs: 300, onWarning() {} }
    const refusal = async (): Promise<unknown> =>
      await Promise.resolve(postgresDriver(options).open({})).catch((error: unknown) => error)
    // A busy machine may hold up the pooler itself for longer.
    await expect.poll(refusal).toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringContaining('pooler in session mode'),
    })
    await holder.end()
    await full.stop()
  })

  test('after a pooler was put in between, a statement that the server is at work on is awaited', async () => {
    // No connection is kept, so that the pooler gets the next call.
    const moved = new pg.Pool({ connectionString: server.url, maxUses: 1 })
    moved.on('error', () => {})
    const driver = postgresDriver({ pool: moved, schema: 'moved', notify: false })
    await driver.open({})
    Object.assign(moved.options, { connectionString: pooler.url })
    const holder = new pg.Client({ connectionString: server.url })
    await holder.connect()
    // What an add of a queue with a limit waits for, for at most two seconds.
    await holder.query(
      `begin; select pg_advisory_xact_lock(moved.${installed('queue_number')}('q')
        # hashtextextended('"moved".count_pending', 0))`,
    )
    const [reply] = await driver.add('q', [ask('a')], { ...askOptions, maxPending: 10 })
    expect(reply).toMatchObject({ outcome: 'failed', error: { code: 'ERR_STORE_BUSY' } })
    await holder.query('rollback')
    await holder.end()
    await driver.close()
    await moved.end()
  })

  examine('the suite', () => create(), {
    timeoutMs: 180_000,
    chance: { modelRuns: 10, histories: 2 },
    except: { 'concurrent.drivers.idle': 'where no notice arrives, a poll wakes each driver' },
  })
})
