import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { type AskOptions, type Driver, failuresExpireMsDefault, systemClock } from '@sluice/core'
import { createDashboard } from '@sluice/dashboard'
import { postgresDriver } from '@sluice/postgres'
import { sqliteDriver } from '@sluice/sqlite'
import { startPostgres } from '@sluice/test-postgres'
import pg from 'pg'

const options: AskOptions = {
  dedupe: 'client-go',
  failuresExpireMs: failuresExpireMsDefault,
  maxPending: undefined,
}

/** The index that a search by failures could use. */
const indexes = {
  SQLite: 'create index failing on sluice_keys (queue, key) where failures > 0',
  Postgres: 'create index failing on sluice.keys (queue_id, key) where failures > 0',
} as const

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const from = performance.now()
  const value = await work()
  return { ms: performance.now() - from, value }
}

async function fill(driver: Driver, queue: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const asks = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => ({
      key: `order/${String(from + index).padStart(8, '0')}`,
      ...{ item: undefined, priority: 0, delayMs: 0, why: 'add' as const },
    }))
    await driver.add(queue, asks, options)
  }
}

/** Claims keys and gives them back as failed, `count` of them; how long that takes. */
async function fail(driver: Driver, queue: string, count: number): Promise<number> {
  const { ms } = await timed(async () => {
    for (let done = 0; done < count; done += 1_000) {
      const claim = { limit: 1_000, holder: 'h', claimId: `${queue} ${done}`, leaseMs: 60_000 }
      const { claims } = await driver.claim(queue, claim)
      const finishes = claims.map(({ key, token }) => ({
        ...({ as: 'retry', key, token, delayMs: 3_600_000 } as const),
        error: '{"name":"Error","message":"no answer","code":"ETIMEDOUT"}',
      }))
      await driver.finish(queue, finishes, options)
    }
  })
  return ms
}

/** Asks the dashboard as the page does, until every key was searched. */
async function search(driver: Driver): Promise<{ found: string[]; requests: number }> {
  const dashboard = createDashboard({ driver })
  const found: string[] = []
  let requests = 0
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ queue: 'big', failuresMin: '1' })
    if (cursor !== undefined) query.set('cursor', cursor)
    const response = await dashboard.fetch(new Request(`http://localhost/api/keys?${query}`))
    const page = (await response.json()) as { keys: { key: string }[]; cursor?: string }
    found.push(...page.keys.map(({ key }) => key))
    cursor = page.cursor
    requests += 1
  } while (cursor !== undefined)
  await dashboard.close()
  return { found, requests }
}

interface Store {
  readonly kind: keyof typeof indexes
  connect(): Driver
  sql(text: string): Promise<void>
}

async function measure(store: Store, keys: number, failed: number): Promise<void> {
  const { kind } = store
  const driver = store.connect()
  await driver.open({ clock: systemClock })
  await fill(driver, 'big', keys)
  await driver.operate?.park('big', ['order/00000000'])
  // The last key by name is the only one that fails.
  const last = `order/${String(keys).padStart(8, '0')}`
  const ask = { key: last, item: undefined, priority: 1_000, delayMs: 0, why: 'add' as const }
  await driver.add('big', [ask], options)
  const claim = { limit: 1, holder: 'h', claimId: 'last', leaseMs: 60_000 }
  const [held] = (await driver.claim('big', claim)).claims
  assert.equal(held?.key, last)
  const finish = { as: 'retry', key: last, token: held.token, delayMs: 3_600_000 } as const
  await driver.finish('big', [finish], options)
  const counted = await timed(async () => await driver.counts('big', { cap: 10 * keys }))
  assert.equal(counted.value.ready, keys - 1)
  const { ms, value } = await timed(() => search(store.connect()))
  assert.deepEqual(value.found, [last])
  console.log(
    `${kind}: the one failed key of ${keys.toLocaleString('en')} is found in ` +
      `${(ms / 1_000).toFixed(1)} s, ${value.requests} requests; an exact count takes ` +
      `${(counted.ms / 1_000).toFixed(2)} s`,
  )
  // The same failing runs without and with the index, taking turns.
  const times: Record<'without' | 'with', number[]> = { without: [], with: [] }
  for (let round = 0; round < 5; round += 1) {
    for (const side of ['without', 'with'] as const) {
      if (side === 'with') await store.sql(indexes[kind])
      const queue = `failing ${round} ${side}`
      await fill(driver, queue, failed)
      times[side].push(await fail(driver, queue, failed))
      if (side === 'with') await store.sql('drop index if exists failing')
    }
  }
  const ratios = times.with.map((took, index) => took / (times.without[index] ?? took)).sort()
  const shown = ratios.map((ratio) => ratio.toFixed(2)).join(', ')
  console.log(`${kind}: with an index on failures, failed runs take ${shown} times as long`)
  await driver.close()
}

/**
 * How long the dashboard takes to find one failed key among `--keys=1000000`, how long an exact count
 * takes, and what an index on failures would cost `--failed=20000` failing runs.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      keys: { type: 'string', default: '1000000' },
      failed: { type: 'string', default: '20000' },
    },
  })
  const [keys, failed] = [Number(values.keys), Number(values.failed)]
  const folder = mkdtempSync(join(tmpdir(), 'sluice-search-'))
  const postgres = await startPostgres()
  const client = new pg.Client({ connectionString: postgres.url })
  try {
    const file = join(folder, 'store.db')
    await measure(
      {
        kind: 'SQLite',
        // The same SQLite for all connections: two libraries in one process undo each other's locks.
        connect: () => sqliteDriver({ database: new DatabaseSync(file), durability: 'process' }),
        async sql(text) {
          const database = new DatabaseSync(file)
          database.exec(text)
          database.close()
          await Promise.resolve()
        },
      },
      keys,
      failed,
    )
    await client.connect()
    await measure(
      {
        kind: 'Postgres',
        connect: () =>
          postgresDriver({ connectionString: postgres.url, schema: 'sluice', onWarning() {} }),
        async sql(text) {
          await client.query(text.replace('exists failing', 'exists sluice.failing'))
        },
      },
      keys,
      failed,
    )
  } finally {
    await client.end()
    await postgres.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`)
}
