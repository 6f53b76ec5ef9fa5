/**
 * The SQL functions that users call: outcomes, transactions, wake-ups, rights. What
 * an add does to a key is in conformance-sql.test.ts. Each promise is a probe, which the SQL passes,
 * and which fails once the SQL is broken in the place that keeps the promise.
 */
import type { Driver } from '@sluice/core'
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { migrationSql, postgresDriver, rolesSql, schemaVersion } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { lockWaits, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let made = 0

beforeAll(async () => {
  await sql(
    server.url,
    `create role sql_owner login password 'secret'; create role sql_runtime login password 'secret';
    create role sql_look login password 'secret'; create role sql_producer login password 'secret';
    create role sql_stranger login password 'secret'`,
  )
})

function newSchema(): string {
  made += 1
  return `public_${made}`
}

async function connected<T>(work: (client: pg.Client) => Promise<T>, user?: string): Promise<T> {
  const url = new URL(server.url)
  if (user !== undefined) url.username = user
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function keysOf(schema: string): Promise<string[]> {
  const { rows } = await server.pool.query(`select key from ${schema}.keys order by seq, key`)
  return rows.map(({ key }) => key)
}

/** Until a statement waits for a lock. A broken one may have given up before that is seen. */
async function untilLockIsAwaited(statement: Promise<unknown>): Promise<void> {
  let isAnswered = false
  const answered = (): void => {
    isAnswered = true
  }
  statement.then(answered, answered)
  while (!isAnswered && (await server.pool.query(lockWaits)).rowCount === 0);
}

/** A promise of the functions; rejects if it is broken. `install` installs them once more. */
type Probe = (schema: string, driver: Driver, install: () => Promise<void>) => Promise<void>

const request = { limit: 10, holder: 'h', claimId: 'c', leaseMs: 60_000 }

const goesWithTheTransaction: Probe = async (schema, driver) => {
  await connected(async (client) => {
    await client.query('begin')
    await client.query(`select ${schema}.add('q', 'undone')`)
    await client.query('rollback')
    await client.query('begin')
    await client.query(`select ${schema}.add('q', 'kept')`)
    expect((await driver.claim('q', request)).claims).toEqual([])
    await client.query('commit')
  })
  expect((await driver.claim('q', request)).claims.map(({ key }) => key)).toEqual(['kept'])
}

const wakesAtTheCommit: Probe = async (schema) => {
  const payloads: (string | undefined)[] = []
  await connected(async (listener) => {
    let heard = (): void => {}
    const marked = new Promise<void>((resolve) => {
      heard = resolve
    })
    listener.on('notification', ({ payload }) => {
      if (payload === 'end') heard()
      else payloads.push(payload)
    })
    await listener.query(`listen ${channelOf(schema)}`)
    await connected(async (client) => {
      await client.query(`begin; select ${schema}.add('q', 'undone'); rollback`)
      await client.query(`begin; select ${schema}.add('q', 'a'); select ${schema}.add('q', 'b')`)
      await client.query('select 1')
      expect(payloads).toEqual([])
      await client.query('commit')
      // Nothing that workers do not know.
      await client.query(`select ${schema}.add('q', 'a')`)
      await client.query(`select ${schema}.add_after('q', 'c', '1 hour')`)
      await client.query(`notify ${channelOf(schema)}, 'end'`)
    })
    await marked
  })
  expect(payloads).toEqual(['qq', 'qq'])
}

const waitsForLocks: Probe = async (schema) => {
  await connected(async (holder) => {
    await holder.query(`begin; select ${schema}.add('q', 'a')`)
    const adding = connected((client) => client.query(`select ${schema}.add('q', 'a') as outcome`))
    await untilLockIsAwaited(adding)
    // real time: longer than the 50 ms for which the driver's own statements wait for a row.
    await holder.query('select pg_sleep(0.2)')
    await holder.query('commit')
    expect((await adding).rows).toEqual([{ outcome: 'unchanged' }])
  })
}

const obeysTheCallersLockTimeout: Probe = async (schema) => {
  await connected(async (holder) => {
    await holder.query(`begin; select ${schema}.add('q', 'a')`)
    await connected(async (client) => {
      await client.query("set lock_timeout = '20ms'; set statement_timeout = '5s'")
      await expect(client.query(`select ${schema}.add('q', 'a')`)).rejects.toMatchObject({
        code: '55P03',
      })
    })
    await holder.query('rollback')
  })
}

const locksInOneOrder: Probe = async (schema) => {
  const keys = Array.from({ length: 2_500 }, (_, index) => `k${index}`)
  await server.pool.query(`select ${schema}.add_many('q', $1)`, [keys])
  await connected(async (first) => {
    await connected(async (second) => {
      await first.query(`begin; select ${schema}.add_many('q', array['k0'])`)
      const text = `select count(*)::int as n from ${schema}.add_many('q', $1, priority => 5)`
      const adding = second.query(text, [[...keys].reverse()])
      await untilLockIsAwaited(adding)
      // The first transaction needs the rest, of which the second one must have locked nothing yet.
      await first.query(text, [keys])
      await first.query('commit')
      expect((await adding).rows).toEqual([{ n: 2_500 }])
    })
  })
}

const takesManyInOneGo: Probe = async (schema, driver) => {
  const count = 10_000
  const { rows } = await server.pool.query(
    `select outcome, count(*)::int as n from ${schema}.add_many('q',
      array(select 'k' || n % ($1 / 2) from generate_series(1, $1) n)) group by 1`,
    [count],
  )
  expect(rows).toEqual([{ outcome: 'added', n: count / 2 }])
  expect((await driver.counts('q', { cap: count })).ready).toBe(count / 2)
  const positions = await server.pool.query(
    `select count(distinct seq)::int as n from ${schema}.keys`,
  )
  expect(positions.rows).toEqual([{ n: count / 2 }])
}

const keepsTheOrderOfTheCall: Probe = async (schema, driver) => {
  await server.pool.query(`select ${schema}.add_many('q', array['c', 'a', 'b', 'a'])`)
  expect((await driver.claim('q', request)).claims.map(({ key }) => key)).toEqual(['c', 'a', 'b'])
}

const lastItemCounts: Probe = async (schema, driver) => {
  await server.pool.query(
    `select ${schema}.add_many('q', array['a', 'b', 'a'], array['1', '2', '{"n": [3]}']::jsonb[])`,
  )
  const { claims } = await driver.claim('q', request)
  const items = claims.map(({ key, item }) => [key, JSON.parse(String(item))])
  expect(Object.fromEntries(items)).toEqual({ a: { n: [3] }, b: 2 })
}

const cancelsWhatIsPending: Probe = async (schema, driver) => {
  const cancel = async (key: string): Promise<unknown> =>
    (await server.pool.query(`select ${schema}.cancel('q', $1) as outcome`, [key])).rows[0].outcome
  expect(await cancel('a')).toBe('unchanged')
  await server.pool.query(`select ${schema}.add('q', 'a'), ${schema}.add_after('q', 'b', '1 hour')`)
  expect([await cancel('a'), await cancel('b'), await cancel('b')]).toEqual([
    'cancelled',
    'cancelled',
    'unchanged',
  ])
  expect(await keysOf(schema)).toEqual([])
  await server.pool.query(`select ${schema}.add('q', 'a')`)
  const { claims } = await driver.claim('q', request)
  await server.pool.query(`select ${schema}.add('q', 'a')`)
  expect(await cancel('a')).toBe('cancelled')
  const [lease] = claims
  const finish = { as: 'done', key: 'a', token: lease?.token ?? 0, forget: false } as const
  const options = { dedupe: 'client-go', failuresExpireMs: 1 } as const
  expect(await driver.finish('q', [finish], options)).toMatchObject([{ outcome: 'idle' }])
}

const servesWhoeverMayCall: Probe = async (schema, _, install) => {
  const roles = {
    ...{ schema, owner: 'sql_owner', runtime: 'sql_runtime', readOnly: 'sql_look' },
    producer: 'sql_producer',
  }
  await server.pool.query(rolesSql(roles))
  // As an upgrade does, which installs the functions after the default privileges were set.
  for (const name of ['add', 'add_after', 'add_many', 'cancel']) {
    await server.pool.query(`drop function ${schema}.${name}`)
  }
  await server.pool.query(
    `alter default privileges in schema ${schema} grant execute on functions to sql_look`,
  )
  await install()
  const adds = [
    `select ${schema}.add('q', 'a')`,
    `select ${schema}.add_after('q', 'b', '1 s')`,
    `select ${schema}.add_many('q', array['c'])`,
  ]
  const cancels = `select ${schema}.cancel('q', 'a')`
  const may = (user: string, text: string): Promise<boolean> =>
    connected(async (client) => {
      try {
        await client.query(text)
        return true
      } catch (error) {
        expect((error as pg.DatabaseError).code).toBe('42501')
        return false
      }
    }, user)
  for (const text of [...adds, cancels]) {
    for (const user of ['sql_look', 'sql_stranger', 'sql_producer', 'sql_runtime']) {
      expect(await may(user, text), `${user}: ${text}`).toBe(false)
    }
  }
  await server.pool.query(rolesSql(roles))
  // Grants outlive another installation.
  await install()
  for (const text of adds) {
    expect(await may('sql_producer', text), text).toBe(true)
    expect(await may('sql_runtime', text), text).toBe(true)
    expect(await may('sql_look', text), text).toBe(false)
    expect(await may('sql_stranger', text), text).toBe(false)
  }
  expect(await may('sql_runtime', cancels)).toBe(true)
  for (const text of [
    cancels,
    `select * from ${schema}.keys`,
    `insert into ${schema}.keys (queue_id, queue, key) values (1, 'q', 'k')`,
    `delete from ${schema}.keys`,
    `select nextval('${schema}.token')`,
    `create table ${schema}.mine (n int)`,
  ]) {
    expect(await may('sql_producer', text), text).toBe(false)
  }
}

const ignoresTheCallersNames: Probe = async (schema) => {
  const stolen = `${schema}_stolen`
  await server.pool.query(`create schema ${stolen}; grant usage, create on schema ${stolen} to sql_producer;
    grant usage on schema ${schema} to sql_producer;
    grant execute on function ${schema}.add(text, text, jsonb, int, text) to sql_producer`)
  await connected(async (client) => {
    await client.query(`create function ${stolen}.octet_length(bytea) returns int language plpgsql
      as $$ begin raise exception 'run as %', current_user; end $$;
      create function ${stolen}.format(text, variadic text[]) returns text language plpgsql
      as $$ begin raise exception 'run as %', current_user; end $$;
      set search_path = ${stolen}, pg_catalog`)
    await client.query(`select ${schema}.add('q', 'a')`)
  }, 'sql_producer')
  expect(await keysOf(schema)).toEqual(['a'])
}

const probes: Readonly<Record<string, Probe>> = {
  'adds go with the transaction of the caller': goesWithTheTransaction,
  'workers are woken by the commit, once, and only for what is new': wakesAtTheCommit,
  'a call waits for a locked row': waitsForLocks,
  'the lock timeout of the caller counts': obeysTheCallersLockTimeout,
  'keys are locked in one order, whatever the order of the call': locksInOneOrder,
  'ten thousand keys are one call': takesManyInOneGo,
  'keys keep the order of the call': keepsTheOrderOfTheCall,
  'the last item of a key counts': lastItemCounts,
  'cancel removes pending runs and leaves no row behind': cancelsWhatIsPending,
  'only roles with a grant may call, and a producer only adds': servesWhoeverMayCall,
  'the names of the caller are not resolved': ignoresTheCallersNames,
}

interface Break {
  readonly probe: keyof typeof probes
  readonly from: string | RegExp
  readonly to: string
}

const breaks: readonly Break[] = [
  {
    probe: 'workers are woken by the commit, once, and only for what is new',
    from: "'q' || in_queue, null)",
    to: 'null, null)',
  },
  {
    probe: 'workers are woken by the commit, once, and only for what is new',
    from: 'if wakes and in_channel',
    to: 'if in_channel',
  },
  {
    probe: 'a call waits for a locked row',
    from: /(function "\w+"\.add_waiting_[\s\S]*?set jit = off\n)/g,
    to: "$1set lock_timeout = '50ms'\n",
  },
  {
    probe: 'the lock timeout of the caller counts',
    from: /(function "\w+"\.add_waiting_[\s\S]*?set jit = off\n)/g,
    to: '$1set lock_timeout = 0\n',
  },
  {
    probe: 'keys are locked in one order, whatever the order of the call',
    from: 'row_number() over (order by d.key)',
    to: 'row_number() over (order by d.index)',
  },
  {
    probe: 'keys are locked in one order, whatever the order of the call',
    from: /order by p\.key collate "C"\)/g,
    to: 'order by p.index)',
  },
  {
    probe: 'ten thousand keys are one call',
    from: 'keys_step constant int := 1000',
    to: 'keys_step constant int := 4000',
  },
  {
    probe: 'ten thousand keys are one call',
    from: 'on f.key = p.key order by p.index;',
    to: 'on f.key = p.key order by p.index; exit;',
  },
  {
    probe: 'keys keep the order of the call',
    from: 'row_number() over (order by p.index)',
    to: 'row_number() over (order by p.key)',
  },
  {
    probe: 'keys keep the order of the call',
    from: 'min(i.index) over (partition by i.key collate "C") as index',
    to: 'i.index',
  },
  {
    probe: 'the last item of a key counts',
    from: 'i.key collate "C", i.index desc) d',
    to: 'i.key collate "C", i.index) d',
  },
  {
    probe: 'cancel removes pending runs and leaves no row behind',
    from: 'and row.crashes = 0 and not row.parked then',
    to: 'and false then',
  },
  {
    probe: 'cancel removes pending runs and leaves no row behind',
    from: "k set due_at = 'Infinity', later_at",
    to: 'k set later_at',
  },
  {
    probe: 'cancel removes pending runs and leaves no row behind',
    from: 'if row.token is null and row.failures',
    to: 'if row.failures',
  },
  {
    probe: 'only roles with a grant may call, and a producer only adds',
    from: /revoke all on function %s from %s/g,
    to: 'select %L, %L',
  },
  {
    probe: 'only roles with a grant may call, and a producer only adds',
    from: /language sql security definer/g,
    to: 'language sql',
  },
]

async function run(probe: Probe, broken?: Break): Promise<void> {
  const schema = newSchema()
  const install = async (from: number): Promise<void> => {
    const text = migrationSql({ schema, from })
    const { from: pattern = '', to = '' } = broken ?? {}
    await sql(server.url, broken === undefined ? text : text.replaceAll(pattern, to))
  }
  await install(0)
  const driver = postgresDriver({ pool: server.pool, schema, migrate: 'verify', onWarning() {} })
  await driver.open({})
  try {
    await probe(schema, driver, () => install(schemaVersion))
  } finally {
    await driver.close()
    await server.pool.query(`select pg_terminate_backend(pid) from (${lockWaits}) as waiting`)
  }
}

test.each(Object.entries(probes))('%s', async (_, probe) => {
  await run(probe)
})

test.each(breaks)('$probe: noticed without $from', async (broken) => {
  expect(migrationSql({ schema: 'any' }), 'the text to break').toMatch(broken.from)
  await expect(run(probes[broken.probe]!, broken)).rejects.toThrow()
})
