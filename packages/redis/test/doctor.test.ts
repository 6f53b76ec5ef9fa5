import { once } from 'node:events'
import { mkdirSync, rmdirSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { hasRedis, onDisk, type RedisProcess, startCluster, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { serverFinding } from '../src/doctor.ts'
import { doctor, type Finding, redisDriver } from '../src/index.ts'
import { ask } from './support/asks.ts'

test('the version of a Valkey is its own, not that of the Redis which it is compatible with', () => {
  const redis = new Map([['redis_version', '7.2.4']])
  const valkey = new Map([...redis, ['valkey_version', '8.1.1']])
  expect(serverFinding([valkey]).summary).toBe('the primary runs version 8.1.1 of Valkey')
  expect(serverFinding([redis]).summary).toBe('the primary runs version 7.2.4')
})

describe.skipIf(!hasRedis)('doctor', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis({ settings: onDisk })
  })

  afterAll(() => server.dispose())

  const levels = (found: readonly Finding[]): Readonly<Record<string, string>> =>
    Object.fromEntries(found.map(({ check, level }) => [check, level]))

  test('finds nothing on a server that is set up well', async () => {
    // No slow log: a busy machine may hold up a script for longer than one may take.
    const settings = [...onDisk, 'slowlog-log-slower-than -1']
    const well = await startRedis({ settings })
    onTestFinished(() => well.dispose())
    const found = await doctor({ url: well.url })
    expect(found[0]?.summary).toMatch(/^the primary runs version \d/)
    expect(levels(found)).toEqual({
      server: 'ok',
      memory: 'ok',
      disk: 'ok',
      replicas: 'ok',
      scripts: 'ok',
      clock: 'ok',
      integrity: 'ok',
      leases: 'ok',
      workers: 'ok',
    })
  })

  test('a server that deletes keys is a failure, and one without a log a warning', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await server.command('CONFIG', 'SET', 'appendonly', 'no')
    onTestFinished(async () => {
      await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      await server.command('CONFIG', 'SET', 'appendonly', 'yes')
    })
    const found = await doctor({ url: server.url })
    expect(levels(found)).toMatchObject({ memory: 'failure', disk: 'warning' })
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl')
    expect(levels(await doctor({ url: server.url }))).toMatchObject({ memory: 'ok' })
    expect(found.find(({ check }) => check === 'memory')?.summary).toContain('noeviction')
  })

  /** Changes a setting of the server until the end of the test. */
  async function set(name: string, value: string): Promise<void> {
    const [, before] = (await server.command('CONFIG', 'GET', name)) as readonly string[]
    await server.command('CONFIG', 'SET', name, value)
    onTestFinished(async () => {
      await server.command('CONFIG', 'SET', name, before ?? '')
    })
  }

  test('a log that is not synced, or not always, is a warning', async () => {
    await set('appendfsync', 'everysec')
    const [, , disk] = await doctor({ url: server.url })
    expect(disk).toMatchObject({ check: 'disk', level: 'ok' })
    await set('no-appendfsync-on-rewrite', 'yes')
    const [, , paused] = await doctor({ url: server.url })
    expect(paused).toMatchObject({ level: 'warning', facts: { noSyncOnRewrite: 'yes' } })
    await set('appendfsync', 'no')
    const [, , never] = await doctor({ url: server.url })
    expect(never).toMatchObject({ level: 'warning', facts: { appendfsync: 'no' } })
    expect(never?.summary).toContain('half minute')
  })

  test('durability.disk is refused if the log is not synced while it is rewritten', async () => {
    const open = async (): Promise<void> => {
      const driver = redisDriver({ url: server.url, durability: { disk: true } })
      await driver.open({})
      await driver.close()
    }
    await open()
    await set('no-appendfsync-on-rewrite', 'yes')
    await expect(open()).rejects.toThrow(/no-appendfsync-on-rewrite is yes, not no/)
  })

  test('a server that refuses changes for want of replicas is a failure', async () => {
    await set('min-replicas-to-write', '1')
    const found = await doctor({ url: server.url })
    const replicas = found.find(({ check }) => check === 'replicas')
    expect(replicas).toMatchObject({ level: 'failure', facts: { minReplicasToWrite: '1' } })
    expect(replicas?.summary).toMatch(/refuses changes.*min-replicas-to-write/)
  })

  test('a reply that is late says nothing against the clock of the server', async () => {
    const onTime = createServer((client) => {
      const upstream = connect(server.port)
      client.on('data', (chunk) => {
        // From here to the reply, ten seconds pass.
        if (chunk.includes('$4\r\nTIME\r\n')) vi.setSystemTime(Date.now() + 10_000)
        upstream.write(chunk)
      })
      upstream.pipe(client)
      client.on('close', () => upstream.destroy())
    })
    await once(onTime.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void onTime.close())
    // And two before the server reads its clock.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2_000 })
    onTestFinished(() => void vi.useRealTimers())
    const { port } = onTime.address() as AddressInfo
    const found = await doctor({ url: `redis://127.0.0.1:${port}` })
    expect(found.find(({ check }) => check === 'clock')?.level).toBe('ok')
  })

  test('a server that could not save is a failure', async () => {
    const snapshot = join(server.folder, 'dump.rdb')
    mkdirSync(snapshot)
    onTestFinished(async () => {
      rmdirSync(snapshot)
      await server.command('SAVE')
    })
    // SCHEDULE: the log may still be being written since an earlier test.
    await server.command('BGSAVE', 'SCHEDULE')
    const status = (): Promise<string> => server.info('rdb_last_bgsave_status')
    await expect.poll(status).toBe('err')
    const found = await doctor({ url: server.url })
    // Whether it refuses changes depends on its settings.
    expect(found.find(({ check }) => check === 'disk')).toMatchObject({
      level: 'failure',
      summary: expect.stringMatching(/rdb_last_bgsave_status.* may refuse changes/),
    })
  })

  test('one primary of a cluster without a log is a warning', async () => {
    const cluster = await startCluster({ replicas: 0, settings: onDisk })
    onTestFinished(() => cluster.dispose())
    await cluster.nodes.at(-1)?.process.command('CONFIG', 'SET', 'appendonly', 'no')
    const [first, , disk] = await doctor({
      url: `redis-cluster://127.0.0.1:${cluster.nodes[0]?.port}`,
    })
    expect(disk).toMatchObject({ check: 'disk', level: 'warning' })
    expect(first?.summary).toMatch(/^3 primaries run version \d/)
  })

  test('what the user may not read is a warning that says so', async () => {
    const rules = ['on', '>secret', '~*', '&*', '+@all', '-info', '-config', '-slowlog']
    await server.command('ACL', 'SETUSER', 'plain', ...rules)
    const url = server.url.replace('redis://', 'redis://plain:secret@')
    const found = await doctor({ url })
    const warnings = { server: 'warning', memory: 'warning', disk: 'warning', scripts: 'warning' }
    expect(levels(found)).toMatchObject(warnings)
  })

  test('what the server does not have is a warning, and the queues work', async () => {
    const withheld = ['CONFIG', 'SLOWLOG', 'INFO', 'WAIT']
    const settings = withheld.map((name) => `rename-command ${name} hidden-${name}`)
    const hosted = await startRedis({ settings })
    onTestFinished(() => hosted.dispose())
    const driver = redisDriver({ url: hosted.url })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    const add = ask('a')
    expect(await driver.add('hosted', [add], options)).toMatchObject([{ outcome: 'added' }])
    const found = await doctor({ url: hosted.url })
    const warnings = { server: 'warning', memory: 'warning', disk: 'warning', scripts: 'warning' }
    expect(levels(found)).toMatchObject({ ...warnings, replicas: 'warning' })
  })

  test('expired leases that no worker reclaims are counted', async () => {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    // The others are held, or have expired within the last minute.
    for (const leaseMs of [-120_000, -30_000, 120_000]) {
      const key = `${leaseMs}`
      await driver.add('late', [ask(key)], options)
      await driver.claim('late', { limit: 1, holder: 'h', claimId: key, leaseMs })
    }
    const found = await doctor({ url: server.url })
    expect(found.find(({ check }) => check === 'leases')).toMatchObject({
      facts: { late: 1 },
      summary: '1 lease expired more than a minute ago, and no worker has reclaimed it',
    })
  })

  test('queues that are empty are not among those that have a worker or none', async () => {
    const one = await startRedis({ settings: onDisk })
    onTestFinished(() => one.dispose())
    const driver = redisDriver({ url: one.url })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    for (const queue of ['emptied', 'full']) await driver.add(queue, [ask('a')], options)
    await driver.operate?.purge('emptied')
    expect(await driver.queues?.()).toEqual(['full'])
    const found = await doctor({ url: one.url })
    expect(found.find(({ check }) => check === 'workers')).toMatchObject({
      facts: { queues: 1, withWorkers: 0 },
    })
  })

  test('keys whose row and sets do not agree are a failure that names them', async () => {
    const damaged = await startRedis()
    onTestFinished(() => damaged.dispose())
    const driver = redisDriver({ url: damaged.url })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    const add = async (queue: string, key: string, delayMs: number): Promise<void> => {
      await driver.add(queue, [{ key, item: '"x"', priority: 0, delayMs }], options)
    }
    const parts = ['rows', 'items', 'keys', 'ready', 'delayed', 'held', 'dirty', 'meta'] as const
    /** Runs Lua on a queue that has a ready, a delayed, a held and a dirty key. */
    const damage = async (queue: string, lua: string): Promise<void> => {
      for (const key of ['dirty', 'held']) await add(queue, key, 0)
      await driver.claim(queue, { limit: 2, holder: 'h', claimId: 'c', leaseMs: 60_000 })
      for (const key of ['dirty', 'ready']) await add(queue, key, 0)
      await add(queue, 'later', 60_000)
      const names = parts.map((part) => `sluice:{${queue}}:${part}`)
      const script = `local ${parts.join(', ')} = unpack(KEYS) local call = redis.call ${lua}`
      await damaged.command('EVAL', script, names.length, ...names)
    }
    const integrity = async () => {
      const found = await doctor({ url: damaged.url })
      return found.filter(({ check }) => check === 'integrity')
    }
    await damage('whole', '')
    expect(await integrity()).toMatchObject([{ level: 'ok' }])
    const damages = {
      'no row': `call('HDEL', rows, 'ready')`,
      'no item': `call('HDEL', items, 'ready')`,
      'not in the list': `call('ZREM', keys, 'ready')`,
      'in no set': `call('ZREMRANGEBYRANK', ready, 0, 0)`,
      'in two sets': `call('ZADD', held, 1, 'ready')`,
      'in another set': `call('ZREMRANGEBYRANK', ready, 0, 0) call('ZADD', held, 1, 'ready')`,
      'due at another time': `call('ZINCRBY', delayed, 1, call('ZRANGE', delayed, 0, 0)[1])`,
      'not dirty': `call('ZREM', dirty, 'dirty')`,
      'dirty without a run': `call('ZADD', dirty, 1, 'held')`,
      'a row that cannot be read': `call('HSET', rows, 'ready', 'x')`,
      'a row that is too long': `call('HSET', rows, 'ready', call('HGET', rows, 'ready') .. 'x')`,
      'a row of no set': `call('HSET', rows, 'ready', '\\7' .. string.sub(call('HGET', rows, 'ready'), 2))`,
      'a set is missing': `call('DEL', held)`,
      'no description': `call('DEL', meta)`,
      'no item, and dirty': `call('HDEL', items, 'ready') call('ZADD', dirty, 1, 'ready')`,
      'no item, no description': `call('HDEL', items, 'ready') call('DEL', meta)`,
      'another type': `call('SET', meta, 'x')`,
      'another type of items': `call('SET', items, 'x')`,
    }
    for (const [queue, lua] of Object.entries(damages)) await damage(queue, lua)
    const found = await integrity()
    const named = found.map(({ level, facts }) => `${level} ${String(facts['queue'])}`)
    expect(named.sort()).toEqual(
      Object.keys(damages)
        .map((queue) => `failure ${queue}`)
        .sort(),
    )
    const summaryOf = (queue: string) =>
      found.find(({ facts }) => facts['queue'] === queue)?.summary
    expect(summaryOf('no row')).toMatch(/"ready" do not agree.*; stop what uses it, export it/)
    expect(summaryOf('no description')).toMatch(
      /^queue no description is damaged: the Redis key sluice:\{no description\}:meta is missing; stop/,
    )
    // No export: it ends at such a key.
    expect(summaryOf('no item')).toBe(
      'queue no item is damaged: the items of the keys "ready" are lost; add each with its item, or remove it',
    )
    expect(summaryOf('no item, and dirty')).toMatch(
      /the items of the keys "ready" are lost; add each .*; the rows of the keys "ready" do not agree .*; then stop/,
    )
    // Nothing can be added to it, or removed.
    expect(summaryOf('no item, no description')).toMatch(
      /the items of the keys "ready" are lost; the Redis key .*:meta is missing; stop what uses it, save .*, purge it/,
    )
    expect(summaryOf('another type of items')).toBe(
      'queue another type of items is damaged: another program has written over the Redis key sluice:{another type of items}:items: delete it, then run doctor again',
    )
    await add('no item', 'ready', 0)
    expect((await integrity()).map(({ facts }) => facts['queue'])).not.toContain('no item')
    await damaged.command('HDEL', 'sluice:{no item}:items', 'ready')
    await driver.operate?.remove('no item', ['ready'])
    expect((await integrity()).map(({ facts }) => facts['queue'])).not.toContain('no item')
  })

  test('a queue that a newer version has stored is a failure, and the rest is checked', async () => {
    const newer = await startRedis()
    onTestFinished(() => newer.dispose())
    const driver = redisDriver({ url: newer.url })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    for (const queue of ['a', 'b', 'c']) {
      await driver.add(queue, [{ key: 'k', item: '"x"', priority: 0, delayMs: 0 }], options)
    }
    await newer.command('HSET', 'sluice:{a}:meta', 'version', '2')
    await newer.command('HDEL', 'sluice:{b}:items', 'k')
    const found = await doctor({ url: newer.url })
    expect(Object.keys(levels(found))).toHaveLength(9)
    expect(found.filter(({ check }) => check === 'integrity')).toMatchObject([
      {
        level: 'failure',
        summary:
          'queue a is stored with layout 2, newer than 1; upgrade @sluice/redis [ERR_SCHEMA_NEWER]',
        facts: { queue: 'a' },
      },
      { level: 'failure', facts: { queue: 'b' } },
    ])
    expect(found.find(({ check }) => check === 'workers')?.facts).toEqual({
      queues: 2,
      withWorkers: 0,
    })
  })
})
