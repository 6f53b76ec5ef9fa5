/**
 * The suite on a driver whose adds and cancels are calls of the public SQL functions, wherever those
 * can express them. The functions have no argument for a clock, so in these schemas the function
 * `present` reads the suite's clock from a setting of the session.
 */
import type { CreateSubject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import {
  type AddOutcome,
  type Ask,
  type AskOptions,
  type AskReply,
  type CancelOutcome,
  type Clock,
  type Driver,
  itemBytesMax,
} from '@sluice/core'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationSql } from '../../src/index.ts'
import { StoreTime } from '../../src/rows/store-time.ts'
import { installed } from '../support/installed.ts'
import { poolOf, sql, startServer, type TestServer } from '../support/server.ts'
import { subjectsOn } from '../support/subjects.ts'

let server: TestServer
let pool: pg.Pool
let create: CreateSubject
/** How many adds and cancels were calls of the public functions. */
let calls = 0

/** Whether the public functions can express an add. */
function isExpressible({ plan, failed, maxWaitMs, item, trace }: Ask): boolean {
  const isPlain = plan === undefined && failed !== true && maxWaitMs === undefined
  if (trace !== undefined) return false
  if (item !== undefined && item.length > itemBytesMax) return false
  // The functions write JSON as Postgres does.
  return isPlain && (item === undefined || /^("[^"\\]*"|-?\d{1,15}|true|false|null)$/.test(item))
}

/** Whether one call can express a batch. */
function isOneCall(asks: readonly Ask[]): boolean {
  const [first] = asks
  const keys = new Set(asks.map(({ key }) => key))
  return (
    asks.length > 1 &&
    keys.size === asks.length &&
    asks.every((ask) => ask.delayMs === first?.delayMs && ask.priority === first.priority)
  )
}

/** The driver, with the public functions in place of two verbs. */
function throughSql(driver: Driver, schema: string): Driver {
  let time: StoreTime | undefined

  async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const now = time?.moment().now
      if (typeof now === 'number') {
        await client.query("select set_config('test.now', $1, true)", [String(now)])
      }
      const answer = await work(client)
      await client.query('commit')
      return answer
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }

  async function addOne(client: pg.PoolClient, queue: string, ask: Ask, dedupe: string) {
    calls += 1
    const { key, item, priority, delayMs } = ask
    if (delayMs > 0) {
      const text = `select ${schema}.add_after($1, $2, $3::float8 * interval '1 ms', $4, $5, $6) as outcome`
      const values = [queue, key, delayMs, item ?? null, priority, dedupe]
      return (await client.query(text, values)).rows[0].outcome
    }
    const text = `select ${schema}.add($1, $2, $3, $4, $5) as outcome`
    const { rows } = await client.query(text, [queue, key, item ?? null, priority, dedupe])
    return rows[0].outcome
  }

  async function addTogether(
    client: pg.PoolClient,
    queue: string,
    asks: readonly Ask[],
    dedupe: string,
  ) {
    calls += 1
    const [{ delayMs, priority } = { delayMs: 0, priority: 0 }] = asks
    const { rows } = await client.query(
      `select key, outcome from ${schema}.add_many($1, $2, $3::jsonb[],
        $4::float8 * interval '1 ms', $5, $6)`,
      [
        queue,
        asks.map(({ key }) => key),
        asks.map(({ item }) => item ?? null),
        delayMs,
        priority,
        dedupe,
      ],
    )
    const outcomes = new Map(rows.map((row) => [row.key, row.outcome]))
    return asks.map(({ key }) => outcomes.get(key))
  }

  async function add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Promise<AskReply[]> {
    const { dedupe } = options
    return await inTransaction(async (client) => {
      const outcomes: AddOutcome[] = []
      if (isOneCall(asks)) outcomes.push(...(await addTogether(client, queue, asks, dedupe)))
      else for (const ask of asks) outcomes.push(await addOne(client, queue, ask, dedupe))
      const { rows } = await client.query(
        `select k.due_at as due, k.failures from unnest($2::text[]) with ordinality as i(key, n)
        join ${schema}.keys k on k.queue = $1 and k.key = i.key order by i.n`,
        [queue, asks.map(({ key }) => key)],
      )
      return rows.map(({ due, failures }, index) => ({
        outcome: outcomes[index]!,
        dueAt: Number(due),
        failures,
      }))
    })
  }

  async function cancel(queue: string, keys: readonly string[]): Promise<CancelOutcome[]> {
    return await inTransaction(async (client) => {
      const outcomes: CancelOutcome[] = []
      for (const key of keys) {
        calls += 1
        const { rows } = await client.query(`select ${schema}.cancel($1, $2) as outcome`, [
          queue,
          key,
        ])
        outcomes.push(rows[0].outcome)
      }
      return outcomes
    })
  }

  return new Proxy(driver, {
    get(target, name) {
      if (name === 'open') {
        return async (options: { clock?: Clock }) => {
          await target.open(options)
          time = new StoreTime(
            options.clock,
            () => 0,
            () => {},
          )
        }
      }
      if (name === 'add') {
        return async (queue: string, asks: readonly Ask[], options: AskOptions) => {
          const isDefault =
            options.maxPending === undefined && options.failuresExpireMs === 86_400_000
          if (isDefault && asks.length > 0 && asks.every(isExpressible)) {
            return await add(queue, asks, options)
          }
          return await target.add(queue, asks, options)
        }
      }
      if (name === 'cancel') return cancel
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

beforeAll(async () => {
  server = await startServer()
  pool = poolOf(server.socketUrl)
  create = subjectsOn({
    url: server.socketUrl,
    driver: { pool },
    wrap: throughSql,
    schema: (number) => `sql_${number}`,
    async prepare(schema) {
      const present = `create or replace function ${schema}.${installed('present')}(
        given float8, at_least float8) returns float8 language sql volatile
      return coalesce(given, cast(nullif(current_setting('test.now', true), '') as float8),
        extract(epoch from clock_timestamp()) * 1000)`
      await sql(server.socketUrl, migrationSql({ schema }), present)
    },
  })
})

afterAll(async () => {
  await pool.end()
  await server.stop()
})

examine('the public SQL functions', () => create(), {
  timeoutMs: 180_000,
  chance: { modelRuns: 20, histories: 2 },
  except: {
    'clock.back.later-process': 'a given clock is taken at its word; the time kept is the server’s',
  },
})

test('most adds of the suite were calls of the public functions', () => {
  expect(calls).toBeGreaterThan(1_000)
})
