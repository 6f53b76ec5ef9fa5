import { startStopwatch } from '@sluice/needs/hold-ups'
import pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { statementsFor } from '../../src/connection/statements.ts'
import { postgresDriver } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { installed } from '../support/installed.ts'
import { lockWaits } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

/** The leases of the key that is locked, and of the others: longer than a machine stands still. */
const leaseMs = 1_000
const longMs = 600_000

/** Less than a statement would wait for the lock, which is longer than the test takes. */
const unlockedMs = 10_000

const server = sharedServer()
let schemas = 0
let driver: ReturnType<typeof postgresDriver>
let schema: string

beforeEach(async () => {
  schemas += 1
  schema = `locked_${schemas}`
  driver = postgresDriver({ pool: server.pool, schema, onWarning() {} })
  await driver.open({})
  return async () => await driver.close()
})

function asks(keys: readonly string[]) {
  return keys.map((key) => ask(key))
}

function numbered(count: number, prefix = 'k'): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`)
}

/** Does `work` while another transaction, in which a statement has run, is open. */
async function meanwhile(text: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    await client.query('begin')
    await client.query(text)
    await work()
    await client.query('rollback')
  } finally {
    await client.end()
  }
}

const lockOne = (queue = '%'): string =>
  `select from ${schema}.keys where key = 'k0500' and queue like '${queue}' for update`

test('a held key that is locked for three leases is renewed late; the others keep theirs', async () => {
  const claim = async (keys: readonly string[], lease: number) => {
    await driver.add('q', asks(keys), options)
    const request = { limit: 1_000, holder: 'h', claimId: keys[0] ?? '', leaseMs: lease }
    return (await driver.claim('q', request)).claims
  }
  const locked = await claim(['k0500'], leaseMs)
  const others = await claim(
    numbered(1_000).filter((key) => key !== 'k0500'),
    longMs,
  )
  expect([locked.length, others.length]).toEqual([1, 999])
  const claims = [...others.slice(0, 500), ...locked, ...others.slice(500)]
  await meanwhile(lockOne(), async () => {
    const began = performance.now()
    let adding: Promise<unknown> | undefined
    // real time: locks are waited for by the clock of the server.
    while (performance.now() - began < 3 * leaseMs) {
      const elapsedMs = startStopwatch()
      const replies = await driver.renew('q', claims, longMs)
      expect(elapsedMs()).toBeLessThan(unlockedMs)
      const busy = replies.filter(({ outcome }) => outcome === 'failed')
      expect(busy).toEqual([
        { outcome: 'failed', error: expect.objectContaining({ code: 'ERR_STORE_BUSY' }) },
      ])
      expect(replies.filter(({ outcome }) => outcome === 'renewed')).toHaveLength(999)
      // Others add other keys while that goes on.
      adding ??= Promise.resolve(driver.add('q', asks(numbered(1_000, 'other')), options))
      expect(await adding).not.toContainEqual(expect.objectContaining({ outcome: 'failed' }))
    }
    // Nobody has lost anything but the holder of the locked key, and that only for the time.
    const { leaseEnds } = await driver.tick('q', { holder: 'h', limit: 100, failuresExpireMs: 1 })
    expect(leaseEnds.map(({ key }) => key)).toEqual(['k0500'])
  })
  const replies = await driver.renew('q', claims, longMs)
  expect(replies.filter(({ outcome }) => outcome === 'renewed')).toHaveLength(1_000)
})

test('of a batch of adds, only the one of the locked key fails', async () => {
  const keys = numbered(1_000)
  await driver.add('q', asks(keys), options)
  // Not locked there.
  await driver.add('other', asks(keys), options)
  await meanwhile(lockOne('q'), async () => {
    // An answer while the transaction is open: nobody has waited for its end.
    const replies = await driver.add('q', asks(keys), options)
    for (const [at, reply] of replies.entries()) {
      expect(reply.outcome).toBe(keys[at] === 'k0500' ? 'failed' : 'unchanged')
    }
  })
})

test('a key that another transaction is about to add is locked too', async () => {
  const values = `insert into ${schema}.keys (queue_id, queue, key)
    values (${schema}.${installed('queue_number')}('q'), 'q', 'k0500')`
  const keys = numbered(1_000)
  await driver.add('other', asks(keys), options)
  await meanwhile(values, async () => {
    const replies = await driver.add('q', asks(keys), options)
    for (const [at, reply] of replies.entries()) {
      expect(reply.outcome).toBe(keys[at] === 'k0500' ? 'failed' : 'added')
    }
  })
})

test('of finishes of every kind, only those of the locked key fail, and they work later', async () => {
  for (const as of ['done', 'retry', 'release', 'park'] as const) {
    const queue = `finish ${as}`
    await driver.add(queue, asks(numbered(1_000)), options)
    const request = { limit: 1_000, holder: 'h', claimId: as, leaseMs: 60_000 }
    const { claims } = await driver.claim(queue, request)
    const finishes = claims.map(({ key, token }) => {
      return { as, key, token, forget: true, delayMs: 0 } as const
    })
    await meanwhile(lockOne(), async () => {
      const replies = await driver.finish(queue, finishes, options)
      for (const [at, reply] of replies.entries()) {
        expect(reply.outcome === 'failed').toBe(claims[at]?.key === 'k0500')
      }
    })
    const late = finishes.filter(({ key }) => key === 'k0500')
    const [reply] = await driver.finish(queue, late, options)
    expect(reply?.outcome).not.toMatch('failed|lost')
  }
})

test.each([
  ['claimed it again', "token = nextval('SCHEMA.token'), claim_id = 'other'", 'lost'],
  ['added it', 'due_at = 1, ready_at = 1, asked_at = 1', 'ready'],
  ['parked it', 'parked = true', 'parked'],
])(
  'a finish waits for a transaction that has %s, and takes the row as that left it',
  async (_, change, outcome) => {
    const set = change.replace('SCHEMA', schema)
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const finishBeside = async (queue: string): Promise<unknown[]> => {
      await driver.add(queue, asks(['k0499', 'k0500', 'k0501']), options)
      const request = { limit: 3, holder: 'h', claimId: queue, leaseMs: 60_000 }
      const { claims } = await driver.claim(queue, request)
      const finishes = claims.map(
        ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
      )
      await client.query('begin')
      await client.query(`update ${schema}.keys set ${set} where queue = $1 and key = 'k0500'`, [
        queue,
      ])
      let isAnswered = false
      const answer = Promise.resolve(driver.finish(queue, finishes, options)).finally(() => {
        isAnswered = true
      })
      while (!isAnswered && (await server.pool.query(lockWaits)).rowCount === 0);
      await client.query('commit')
      return (await answer).map((reply) => reply.outcome)
    }
    // On a busy machine the commit may come after the 50 ms for which a finish waits.
    let outcomes: unknown[] = ['failed', 'failed', 'failed']
    for (let at = 0; outcomes.includes('failed'); at += 1)
      outcomes = await finishBeside(`beside ${at}`)
    await client.end()
    expect(outcomes).toEqual(['idle', outcome, 'idle'])
  },
)

test('a locked key is passed over by claims, and comes when it is free', async () => {
  await driver.add('q', asks(['k0500', 'k0501']), options)
  const request = { limit: 2, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  await meanwhile(lockOne(), async () => {
    expect((await driver.claim('q', request)).claims.map(({ key }) => key)).toEqual(['k0501'])
  })
  expect((await driver.claim('q', request)).claims.map(({ key }) => key)).toEqual(['k0500'])
})

test('the verbs of an operator fail as a whole, and change nothing', async () => {
  await driver.add('q', asks(['k0500', 'k0501']), options)
  await meanwhile(lockOne(), async () => {
    const busy = expect.objectContaining({ code: 'ERR_STORE_BUSY', retryable: true })
    await expect(driver.operate?.park('q', ['k0500', 'k0501'])).rejects.toEqual(busy)
  })
  expect((await driver.counts('q', { cap: 10 })).ready).toBe(2)
})

test('a purge removes all but the locked key, and says that it stays', async () => {
  const keys = numbered(2_500)
  for (let at = 0; at < 2_500; at += 500)
    await driver.add('q', asks(keys.slice(at, at + 500)), options)
  await meanwhile(lockOne(), async () => {
    const busy = { code: 'ERR_STORE_BUSY', retryable: true }
    await expect(driver.operate?.purge('q')).rejects.toMatchObject({
      ...busy,
      message: expect.stringContaining('removed 2499 keys'),
    })
    expect((await driver.counts('q', { cap: 10 })).ready).toBe(1)
  })
  expect(await driver.operate?.purge('q')).toBe(1)
})

test.each(['cancel', 'forget'] as const)('%s fails for a locked key alone', async (verb) => {
  await driver.add('q', asks(['k0499', 'k0500', 'k0501']), options)
  const outcome = { cancel: 'cancelled', forget: 'unchanged' }[verb]
  await meanwhile(lockOne(), async () => {
    const busy = {
      outcome: 'failed',
      error: expect.objectContaining({ code: 'ERR_STORE_BUSY', retryable: true }),
    }
    const replies = await driver[verb]('q', ['k0501', 'k0500', 'k0499'])
    expect(replies).toEqual([outcome, busy, outcome])
  })
  expect((await driver.counts('q', { cap: 10 })).ready).toBe(verb === 'cancel' ? 1 : 3)
})

test('a charge of a bucket in an open transaction does not block other charges', async () => {
  const plan = { kind: 'bucket', name: 'b', perSecond: 0.01, burst: 1 } as const
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('begin')
  const [ask] = asks(['mine'])
  await driver.transact?.(client).add('q', [{ ...ask!, plan }], options)
  const [reply] = await driver.add(
    'q',
    asks(['yours']).map((one) => ({ ...one, plan })),
    options,
  )
  expect(reply).toMatchObject({ outcome: 'added', plannedMs: expect.any(Number) })
  // It stands behind the token that the open transaction has taken.
  expect((reply as { plannedMs: number }).plannedMs).toBeGreaterThan(0)
  await client.query('rollback')
  await client.end()
})

test('a charge that has waited for its bucket is made when it has it, not before the last one', async () => {
  const plan = { kind: 'bucket', name: 'b', perSecond: 100, burst: 1 } as const
  const charge = (key: string) =>
    driver.add(
      'q',
      asks([key]).map((one) => ({ ...one, plan })),
      options,
    )
  await charge('first')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const chargeThere = async (): Promise<number> => {
    const { rows } = await client.query(
      `update ${schema}.buckets set at = extract(epoch from clock_timestamp()) * 1000 returning at`,
    )
    return rows[0].at
  }
  let [outcome, at]: [string | undefined, number] = [undefined, 0]
  // On a busy machine the commit may come after the two seconds for which a charge waits.
  while (outcome === undefined || outcome === 'failed') {
    await client.query('begin')
    await chargeThere()
    let isAnswered = false
    const second = Promise.resolve(charge('second')).finally(() => {
      isAnswered = true
    })
    while (!isAnswered && (await server.pool.query(lockWaits)).rowCount === 0);
    at = await chargeThere()
    await client.query('commit')
    outcome = (await second)[0]?.outcome
  }
  await client.end()
  expect(outcome).toBe('added')
  const { rows } = await server.pool.query(`select at from ${schema}.buckets`)
  expect(rows[0].at).toBeGreaterThanOrEqual(at)
})

test('two processes that add the same keys in opposite orders never wait for each other', async () => {
  const keys = numbered(500)
  const backwards = [...keys].reverse()
  const before = await deadlocks()
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const batch = asks(i % 2 === 0 ? keys : backwards).map((ask) => ({ ...ask, priority: i }))
      await driver.add('q', batch, options)
    }),
  )
  expect(await deadlocks()).toBe(before)
})

test('locks that the server waits for, although it was told to skip them, fail their keys alone', async () => {
  await driver.add('q', asks(['k0500']), options)
  // As it does for a row that was updated again between a look at it and its lock.
  await meanwhile(`lock table ${schema}.keys in exclusive mode`, async () => {
    const replies = await driver.add('q', asks(['k0499', 'k0500', 'k0501']), options)
    const busy = {
      outcome: 'failed',
      error: expect.objectContaining({ code: 'ERR_STORE_BUSY', retryable: true }),
    }
    expect(replies).toEqual([busy, busy, busy])
  })
})

test('the search for locked keys keeps no lock while it goes on', async () => {
  await driver.add('q', asks(['k0499', 'k0500']), options)
  const { text } = statementsFor(schema, channelOf(schema)).findLockedKeys
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('begin')
  const { rows } = await client.query(text, ['q', '{k0499,k0500,k0501}', true])
  expect(rows).toEqual([])
  const cancelled = await driver.cancel('q', ['k0499', 'k0500'])
  expect(cancelled).toEqual(['cancelled', 'cancelled'])
  await client.query('rollback')
  await client.end()
})

async function deadlocks(): Promise<number> {
  const { rows } = await server.pool.query(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  )
  return rows[0].n
}

test('a call that fails in this process has unlocked its rows when it fails, by a rollback', async () => {
  await driver.add('q', asks(['k0', 'k1']), options)
  const request = { limit: 2, holder: 'h', claimId: 'c', leaseMs: longMs }
  const { claims } = await driver.claim('q', request)
  const unreadable = {
    key: 'k1',
    get token(): number {
      throw new Error('token cannot be read')
    },
  }
  const released: unknown[] = []
  const note = (error: unknown): void => void released.push(error)
  server.pool.on('release', note)
  try {
    const expiring = driver.expire('q', [claims[0]!, unreadable], { ...options, maxCrashes: 9 })
    await expect(expiring).rejects.toThrow('token cannot be read')
  } finally {
    server.pool.off('release', note)
  }
  // A connection that is released with an error is closed, and its locks stay until the server finds out.
  expect(released.length).toBeGreaterThan(0)
  expect(released.filter(Boolean)).toEqual([])
})
