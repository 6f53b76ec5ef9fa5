/**
 * Connections that die, answers that are lost, servers that crash: nothing that was acknowledged is
 * lost, nobody overlaps, and everything continues automatically.
 *
 * `SLUICE_TORTURE=1` does ten times as much.
 */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { beginText } from '../../src/connection/connection.ts'
import { statementsFor } from '../../src/connection/statements.ts'
import { migrate, postgresDriver } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { ask } from '../support/asks.ts'
import { type Cut, cuts, startProxy } from '../support/cutting-proxy.ts'
import { databaseOf, poolOf, startServer, type TestServer } from '../support/server.ts'
import {
  breath,
  lostOf,
  prepareWitness,
  runWorkload,
  seeded,
  type WorkloadOptions,
  type WorkloadReport,
} from '../support/workload.ts'

const times = process.env['SLUICE_TORTURE'] === '1' ? 10 : 1
const seed = Number(process.env['SLUICE_SEED'] ?? 1)
const patience = 120_000 * times

let server: TestServer
let witness: pg.Pool
let queues = 0
let queue: string

beforeAll(async () => {
  server = await startServer()
  // Of those who may not write for a while, the witness is none.
  const url = new URL(server.url)
  url.searchParams.set('options', '-c default_transaction_read_only=off')
  witness = poolOf(url.href)
  await prepareWitness(witness)
})

afterAll(async () => {
  await witness.end()
  await server.stop()
})

beforeEach(() => {
  queues += 1
  queue = `q${queues}`
})

/** Works through a driver that connects by `port` while `trouble` goes on; then to the end. */
async function workDuring(
  port: number,
  trouble: () => Promise<void>,
  more: Partial<WorkloadOptions> = {},
): Promise<WorkloadReport> {
  const url = new URL(server.url)
  url.port = String(port)
  const driver = postgresDriver({
    connectionString: url.href,
    schema: 'faults',
    poolSize: 6,
    timeoutMs: 1_000,
    onWarning() {},
  })
  // A busy machine may hold up the server for longer.
  await vi.waitFor(async () => await driver.open({}), { timeout: 45_000 })
  const stop = await driver.watch?.(() => {})
  let isOver = false
  const work = runWorkload({
    driver,
    witness,
    queue,
    name: `seed ${seed}`,
    producers: 2,
    workers: 4,
    keys: 300,
    adds: Infinity,
    leaseMs: 3_000,
    random: seeded(seed),
    isOver: () => isOver,
    ...more,
  })
  try {
    await Promise.race([trouble(), work.then(() => {})])
  } finally {
    isOver = true
  }
  const report = await work
  await stop?.()
  await driver.close()
  return report
}

function expectNothingLost(report: WorkloadReport): void {
  expect(lostOf([report])).toEqual([])
  expect(report.overlaps).toEqual([])
  expect(Object.keys(report.acked).length).toBeGreaterThan(0)
}

test(`${500 * times} backends are terminated`, { timeout: patience }, async () => {
  const random = seeded(seed)
  let killed = 0
  const report = await workDuring(server.port, async () => {
    while (killed < 500 * times) {
      const { rows } = await witness.query(
        `select pg_terminate_backend(pid) from (
          select pid from pg_stat_activity
          where application_name like 'sluice%' and datname = current_database()
          order by (state <> 'active')::int, random() limit $1) x`,
        [1 + Math.floor(random() * 2)],
      )
      killed += rows.length
      await breath(random() * 8)
    }
  })
  expectNothingLost(report)
  expect(report.errors['ERR_UNKNOWN_OUTCOME']).toBeGreaterThan(0)
})

test(`${250 * times} connections are cut`, { timeout: patience }, async () => {
  const random = seeded(seed)
  const proxy = await startProxy(server.port)
  const report = await workDuring(proxy.port, async () => {
    for (let wanted = 0; proxy.made < 250 * times; ) {
      if (wanted < proxy.made + 2) {
        // Those that hang take a second each, until a deadline ends them.
        const cut: Cut = random() < 0.04 ? 'black hole' : cuts[Math.floor(random() * 4)]!
        proxy.cutNext(cut)
        wanted += 1
      }
      await breath(random() * 10)
    }
  })
  await proxy.stop()
  expectNothingLost(report)
  expect(report.errors['ERR_UNKNOWN_OUTCOME']).toBeGreaterThan(0)
})

test.skipIf(process.env['SLUICE_TEST_POSTGRES_URL'] !== undefined)(
  `the server crashes ${10 * times} times`,
  { timeout: patience },
  async () => {
    const report = await workDuring(
      server.port,
      async () => {
        for (let crash = 0; crash < 10 * times; crash += 1) {
          await breath(100)
          await server.crash()
          await server.start()
          await connected()
        }
      },
      { random: seeded(seed) },
    )
    // The table of the witness is empty after a crash, which is right: so are its memories.
    expectNothingLost(report)
  },
)

test('a server that takes no writes for a while is waited for', async () => {
  const random = seeded(seed)
  const setReadOnly = `alter database ${databaseOf(server.url)} set default_transaction_read_only`
  const report = await workDuring(server.port, async () => {
    for (let flip = 0; flip < 5; flip += 1) {
      await witness.query(`${setReadOnly} = on`)
      await witness.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'sluice%' and datname = current_database()`,
      )
      await breath(50 + random() * 50)
      await witness.query(`${setReadOnly} = off`)
      await breath(50)
    }
  })
  expectNothingLost(report)
  expect(report.errors['ERR_STORE']).toBeGreaterThan(0)
})

test('a default isolation that changes while a program runs makes no call fail', async () => {
  const pool = poolOf(server.url, 1)
  const schema = 'isolated'
  const driver = postgresDriver({ pool, schema, onWarning() {} })
  await driver.open({})
  // Loses every race that a transaction can lose with this isolation.
  await pool.query(`create function ${schema}.race() returns trigger language plpgsql as $$ begin
    if current_setting('transaction_isolation') = 'serializable' then
      raise exception using errcode = '40001';
    end if;
    return new; end $$;
    create trigger race before insert on ${schema}.keys for each row execute function ${schema}.race();
    set default_transaction_isolation = 'serializable'`)
  const options = { dedupe: 'client-go', failuresExpireMs: 60_000 } as const
  expect(await driver.add(queue, [ask('a')], options)).toMatchObject([{ outcome: 'added' }])
  await driver.close()
  await pool.end()
})

test('a process that stops in the middle does not keep its locks', async () => {
  const schema = 'stopped'
  await migrate({ pool: witness, schema })
  const { lockKeys, findLockedKeys } = statementsFor(schema, channelOf(schema))
  const busy = async (): Promise<unknown[]> =>
    (await witness.query(findLockedKeys.text, [queue, '{a}', true])).rows
  const stopped = new pg.Client({ connectionString: server.url })
  const ended = new Promise<void>((resolve) => {
    stopped.on('error', () => resolve())
  })
  await stopped.connect()
  await stopped.query(beginText({}))
  await stopped.query(lockKeys.text, [queue, '{a}', true, null, null, null, null])
  expect(await busy()).toEqual([{ key: 'a' }])
  // It says nothing more; the server does not wait for that.
  await ended
  // It says so before it has let go of everything.
  while ((await busy()).length > 0) await breath(20)
})

async function connected(): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
      return
    } catch {
      await breath(20)
    } finally {
      await client.end().catch(() => {})
    }
  }
}
