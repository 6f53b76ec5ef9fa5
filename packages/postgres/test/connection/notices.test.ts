import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Driver } from '@sluice/core'
import { needs } from '@sluice/needs'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type PostgresOptions, postgresDriver, rolesSql } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { startProxy } from '../support/cutting-proxy.ts'
import { openPatient } from '../support/open-patient.ts'
import { sql, startServer } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'
import { watched } from '../support/watched.ts'

const patiently = { timeout: 45_000 }

const one = ask('a')

const server = sharedServer()

/** The notices of a schema, as a client of the server receives them until the test ends. */
async function listenTo(schema: string) {
  const raw = await server.pool.connect()
  onTestFinished(() => raw.release(true))
  const received: string[] = []
  raw.on('notification', ({ payload = '' }) => void received.push(payload))
  await raw.query(`listen ${channelOf(schema)}`)
  return { raw, received }
}

test('many changes in a row are few notices', async () => {
  const [here, there] = [
    await openPatient(server.url, 'many'),
    await openPatient(server.url, 'many'),
  ]
  const watcher = await watched(here)
  const { raw, received } = await listenTo('many')
  const startedAt = performance.now()
  const adds = Array.from({ length: 300 }, (_, i) =>
    there.add('q', [{ ...one, key: `k${i}` }], options),
  )
  const woken = watcher.next((queue) => queue === 'q')
  await Promise.all(adds)
  await woken
  await raw.query('select 1')
  // One at once, and then one each 10 ms.
  const most = (performance.now() - startedAt) / 9 + 2
  expect(received.length).toBeGreaterThan(0)
  expect(received.length).toBeLessThanOrEqual(most)
  await watcher.stop()
})

test('an add that comes alone tells by its own commit, and one that changes nothing does not tell', async () => {
  const there = await openPatient(server.url, 'alone')
  const { raw, received } = await listenTo('alone')
  await there.add('q', [one], options)
  // The server sends what was committed before it answers.
  await raw.query('select 1')
  expect(received).toEqual(['qq'])
  await there.add('other', [one], options)
  await there.add('other', [one], options)
  await raw.query('select 1')
  expect(received).toEqual(['qq', 'qother'])
})

test('a batch, an earlier delay, and another run of a held key tell by their own commit', async () => {
  const before = await openPatient(server.url, 'changes')
  await before.add('moved', [{ ...one, delayMs: 60_000 }], options)
  await before.add('held', [one], options)
  await before.claim('held', { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 })
  const there = await openPatient(server.url, 'changes')
  const { raw, received } = await listenTo('changes')
  await there.add('batch', [one, { ...one, key: 'b' }], options)
  const [moved] = await there.add('moved', [{ ...one, delayMs: 30_000 }], options)
  const [added] = await there.add('held', [one], options)
  await raw.query('select 1')
  expect([moved?.outcome, added?.outcome]).toEqual(['moved', 'added'])
  expect(received).toEqual(['qbatch', 'qmoved', 'qheld'])
})

test('another item for a waiting key sends no notice', async () => {
  const there = await openPatient(server.url, 'items')
  await there.add('q', [{ ...one, delayMs: 60_000 }], options)
  const { raw, received } = await listenTo('items')
  for (let item = 0; item < 20; item += 1) {
    const [reply] = await there.add('q', [{ ...one, delayMs: 60_000, item: `${item}` }], options)
    expect(reply?.outcome).toBe('unchanged')
  }
  await raw.query('select 1')
  expect(received).toEqual([])
})

test('a notice that waits for its turn is sent before the driver is closed', async () => {
  const there = await openPatient(server.url, 'pending')
  const { raw, received } = await listenTo('pending')
  for (const key of ['a', 'b', 'c']) await there.add('q', [{ ...one, key }], options)
  await there.close()
  await raw.query('select 1')
  expect(received.length).toBeGreaterThan(1)
})

test('an add succeeds even if the role may not notify', async () => {
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query('create database mute')
  const url = new URL(server.url)
  url.pathname = '/mute'
  const owner = postgresDriver({ connectionString: url.href, onWarning() {} })
  await owner.open({})
  await owner.close()
  const there = new pg.Client({ connectionString: url.href })
  await there.connect()
  await there.query('revoke execute on function pg_catalog.pg_notify(text, text) from public')
  await there.query("create role mute login password 'secret'; create role looks_only")
  await there.query(rolesSql({ owner: url.username, runtime: 'mute', readOnly: 'looks_only' }))
  url.username = 'mute'
  url.password = 'secret'
  const driver = postgresDriver({ connectionString: url.href, migrate: 'verify', onWarning() {} })
  await driver.open({})
  for (const key of ['a', 'b', 'c']) {
    const [reply] = await driver.add('q', [{ ...one, key }], options)
    expect(reply).toMatchObject({ outcome: 'added' })
  }
  await driver.close()
  await there.query('drop owned by mute; drop owned by looks_only; drop role mute, looks_only')
  await there.end()
  await admin.query('drop database mute')
  await admin.end()
})

test('an add is done even if the server has no room for its notice', async () => {
  const small = await startServer(['-c', 'max_notify_queue_pages=64'])
  const reader = new pg.Client({ connectionString: small.url })
  const writer = new pg.Client({ connectionString: small.url })
  await Promise.all([reader.connect(), writer.connect()])
  const { rows } = await writer.query(
    "select current_setting('max_notify_queue_pages', true) as pages",
  )
  const isSmall = rows[0].pages === '64'
  try {
    // A server that is not ours has a queue of gigabytes.
    if (!needs('a server whose queue of notices can be small', isSmall)) return
    // A client that listens and stays in a transaction keeps all notices.
    await reader.query('listen elsewhere')
    await reader.query('begin')
    const fill = `select pg_notify('elsewhere', repeat('x', 7000) || n) from generate_series(1, 8) n`
    const filled = async (): Promise<boolean> =>
      await writer.query(fill).then(
        () => false,
        ({ code }) => code === '54000',
      )
    for (let nth = 0; nth < 100 && !(await filled()); nth += 1);
    const driver = postgresDriver({ connectionString: small.url, onWarning() {} })
    await driver.open({})
    const [reply] = await driver.add('q', [one], options)
    expect(reply).toMatchObject({ outcome: 'added' })
    const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }
    expect((await driver.claim('q', request)).claims).toHaveLength(1)
    await driver.close()
  } finally {
    await Promise.all([reader.end(), writer.end()])
    await small.stop()
  }
})

test('closing the driver waits for a notice that is being sent', async () => {
  const there = await openPatient(server.url, 'under_way')
  const { raw, received } = await listenTo('under_way')
  await there.operate?.resume('q')
  await there.close()
  await raw.query('select 1')
  expect(received).toEqual(['qq'])
})

test('an add whose answer is lost sends its notice, though its repetition changes nothing', async () => {
  const watcher = await watched(await openPatient(server.url, 'lost'))
  const proxy = await startProxy(server.port)
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const driver = postgresDriver({
    connectionString: url.href,
    schema: 'lost',
    poolSize: 2,
    onWarning() {},
  })
  await driver.open({})
  const add = (queue: string, key: string) =>
    Promise.resolve(driver.add(queue, [{ ...one, key }], options))
  // Two connections that know the statement, so that each add is sent at one go.
  await Promise.all([add('before', 'a'), add('before', 'b')])
  const heard = (queue: string) => watcher.all.filter((name) => name === queue)
  await vi.waitFor(() => expect(heard('before')).toHaveLength(2), patiently)
  // The first takes the notice along, the second comes too closely.
  // real time: none passes between the two, however long the machine takes.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const passed = new Promise<void>((resolve) => {
    proxy.passNext(resolve)
  })
  const first = add('q', 'a')
  await passed
  proxy.cutNext('reset after')
  expect(await Promise.allSettled([first, add('q', 'b')])).toMatchObject([
    { status: 'fulfilled', value: [{ outcome: 'added' }] },
    { status: 'rejected', reason: { code: 'ERR_UNKNOWN_OUTCOME' } },
  ])
  vi.useRealTimers()
  await vi.waitFor(async () => {
    expect((await driver.counts('q', { cap: 10 })).ready).toBe(2)
  }, patiently)
  expect(await add('q', 'b')).toMatchObject([{ outcome: 'unchanged' }])
  await driver.close()
  await vi.waitFor(() => expect(heard('q')).toHaveLength(2), patiently)
  await watcher.stop()
  await proxy.stop()
})

test('adds continue while a commit that notifies keeps all others from notifying', async () => {
  // A standby that never confirms holds a commit for ever, and with it the lock of those who notify.
  const flags = ['-c', 'synchronous_standby_names=nobody', '-c', 'synchronous_commit=local']
  const alone = await startServer(flags)
  const named = (name: string) => ({ connectionString: alone.url, application_name: name })
  const notifier = new pg.Client(named('notifier'))
  const [settings] = await sql(alone.url, 'show synchronous_standby_names')
  const isOurs = settings?.rows[0].synchronous_standby_names === 'nobody'
  try {
    if (!needs('a server of our own that waits for a standby', isOurs)) return
    const stuck = async (): Promise<void> => {
      const held = `select from pg_stat_activity where application_name = 'notifier' and wait_event = 'SyncRep'`
      while ((await sql(alone.url, held))[0]?.rowCount === 0);
    }
    await notifier.connect()
    await notifier.query('create table notes (note text)')
    await notifier.query('set synchronous_commit = on')
    const told = notifier.query(
      `insert into notes values ('x'); select pg_notify('elsewhere', 'x')`,
    )
    await stuck()
    const driverWith = async (schema: string, more: PostgresOptions): Promise<Driver> => {
      const driver = postgresDriver({ schema, onWarning() {}, ...more })
      await vi.waitFor(async () => await driver.open({}), patiently)
      return driver
    }
    const added = [{ outcome: 'added' }]
    const url = new URL(alone.url)
    url.searchParams.set('options', '-c lock_timeout=100ms')
    const brief = await driverWith('brief', { connectionString: url.href })
    for (const key of ['a', 'b']) {
      expect(await brief.add('q', [{ ...one, key }], options)).toMatchObject(added)
    }
    const patient = await driverWith('patient', { connectionString: alone.url, timeoutMs: 2_000 })
    const first = Promise.resolve(patient.add('q', [one], options))
    await expect(first).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    for (const queue of ['q', 'other']) {
      // Again, where a busy machine held up the server for two seconds.
      await vi.waitFor(async () => {
        const [reply] = await patient.add(queue, [{ ...one, key: 'b' }], options)
        expect(reply?.outcome).toMatch(/^(added|unchanged)$/)
      }, patiently)
    }
    await sql(
      alone.url,
      `select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'notifier'`,
    )
    await told
    await Promise.all([brief.close(), patient.close()])
  } finally {
    await notifier.end()
    await alone.stop()
  }
})

test('a process that ends normally first sends the notices that wait for their turn', async () => {
  const watcher = await watched(await openPatient(server.url, 'ending'))
  const script = `
    import { postgresDriver } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
    const driver = postgresDriver({
      connectionString: ${JSON.stringify(server.url)}, schema: 'ending', poolSize: 1, onWarning() {},
      timeoutMs: 60_000, // It only ends what hangs: the process may be held up while it connects.
    })
    await driver.open({})
    const asks = (key) => [{ key, item: undefined, priority: 0, delayMs: 0 }]
    const options = ${JSON.stringify(options)}
    await driver.add('q', asks('a'), options)
    await driver.add('q', asks('b'), options)`
  const flags = ['--no-warnings', '--conditions=sluice-source', '--input-type=module', '--eval']
  await promisify(execFile)(process.execPath, [...flags, script])
  await vi.waitFor(
    () => expect(watcher.all.filter((queue) => queue === 'q')).toHaveLength(2),
    patiently,
  )
  await watcher.stop()
})
