import assert from 'node:assert/strict'
import type { Driver, TransferRow, WorkerInfo } from '@sluice/core/driver'
import { never, transferRow } from '@sluice/core/driver'
import { hasRedis, type RedisProcess, startCluster, startRedis } from '@sluice/test-redis'
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { doctor, redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

const one = ask('a')

const registry = 'sluice:{registry}:queues'

describe.skipIf(!hasRedis)('the queues of a store', () => {
  let server: RedisProcess

  beforeEach(async () => {
    server ??= await startRedis()
    await server.command('FLUSHALL')
  })

  afterAll(() => server.dispose())

  async function open(): Promise<Driver> {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    return driver
  }

  /** Until the end of the test the server refuses what needs memory. */
  async function fillMemory(): Promise<void> {
    await server.command('CONFIG', 'SET', 'maxmemory', 1)
    onTestFinished(async () => {
      await server.command('CONFIG', 'SET', 'maxmemory', 0)
    })
  }

  test('are listed while they have keys, however long ago a process used them', async () => {
    const driver = await open()
    for (const queue of ['kept', 'empty', 'empty, new']) await driver.add(queue, [one], options)
    await driver.cancel('empty', ['a'])
    await driver.cancel('empty, new', ['a'])
    for (const queue of ['kept', 'empty']) await server.command('ZADD', registry, 1_000, queue)
    const others = await open()
    expect(await others.queues?.()).toEqual(['kept'])
    expect(await server.command('ZRANGE', registry, 0, -1)).toEqual(['kept', 'empty, new'])
  })

  test('leave nothing behind once they are empty and unused for a day', async () => {
    const driver = await open()
    const claims = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }
    const seqOf = async (): Promise<number | undefined> => {
      const { rows } = await driver.list('tenant', { limit: 1 })
      return rows[0]?.seq
    }
    const worker = { processId: 1 } as unknown as WorkerInfo
    const none = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }
    const record = { ...none, codes: [], failedRuns: [] }
    await driver.tick('tenant', { holder: 'h', worker, limit: 1, failuresExpireMs: never, record })
    await driver.add('tenant', [one], options)
    const before = await seqOf()
    const token = (await driver.claim('tenant', claims)).claims[0]?.token ?? 0
    const done = { as: 'done', key: 'a', token, forget: true } as const
    await driver.finish('tenant', [done], options)
    // As if the worker had ended a day ago.
    await server.command('HDEL', 'sluice:{tenant}:workers', 'h')
    const keys = async () => (await server.command('KEYS', 'sluice:{tenant}:*')) as string[]
    assert.deepEqual(await driver.queues?.(), [])
    assert.equal((await keys()).length, 15)
    await server.command('ZADD', registry, 1_000, 'tenant')
    assert.deepEqual(await driver.queues?.(), [])
    assert.deepEqual(await keys(), [])
    // Positions and tokens rise, as if nothing had been deleted.
    await driver.add('tenant', [one], options)
    assert.ok(Number(await seqOf()) > Number(before))
    assert.ok(((await driver.claim('tenant', claims)).claims[0]?.token ?? 0) > token)
    assert.deepEqual(await driver.queues?.(), ['tenant'])
  })

  test('are in the slots that the first one was put into, for every process', async () => {
    const inOneSlot = () => redisDriver({ url: server.url, oneSlot: true })
    const early = inOneSlot()
    await early.open({})
    onTestFinished(() => early.close())
    const driver = await open()
    await driver.add('q', [one], options)
    const message = 'the queues of this store have oneSlot: false; open it in the same way'
    await expect(early.add('q', [ask('b')], options)).rejects.toThrow(message)
    await expect(inOneSlot().open({})).rejects.toMatchObject({ code: 'ERR_STORE' })
    await expect(doctor({ url: server.url, oneSlot: true })).rejects.toThrow(message)
    expect(await driver.queues?.()).toEqual(['q'])
    await server.command('FLUSHALL')
    await early.add('q', [one], options)
    await expect(driver.add('new', [one], options)).rejects.toThrow('have oneSlot: true')
  })

  test('are listed by a server that has lost everything, once a process uses them again', async () => {
    const forgetful = await startRedis()
    onTestFinished(() => forgetful.dispose())
    const driver = redisDriver({ url: forgetful.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('q', [one], options)
    await forgetful.kill()
    await forgetful.start()
    const list = async (): Promise<void> => {
      await driver.add('q', [one], options)
      expect(await driver.queues?.()).toEqual(['q'])
    }
    await vi.waitFor(list, { timeout: 20_000 })
  })

  /** A driver on a cluster, the node that has the registry, and two queues that are on other nodes. */
  async function openCluster() {
    const settings = ['cluster-require-full-coverage no']
    const cluster = await startCluster({ replicas: 0, settings })
    onTestFinished(() => cluster.dispose())
    const lister = await cluster.primaryOf(registry)
    const names: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const { id } = await cluster.primaryOf(`sluice:{${name}}:meta`)
      if (id !== lister.id) names.push(name)
    }
    const [known = '', fresh = ''] = names
    const driver = redisDriver({ url: `redis-cluster://127.0.0.1:${cluster.nodes[0]?.port}` })
    await driver.open({})
    onTestFinished(() => driver.close())
    return { cluster, lister, known, fresh, driver }
  }

  test('go on while another server, which lists them, refuses writes after its restart', async () => {
    const { lister, known, fresh, driver } = await openCluster()
    await driver.add(known, [one], options)
    await lister.process.kill()
    await lister.process.start()
    await lister.process.command('CONFIG', 'SET', 'min-replicas-to-write', 1)
    const addFresh = async (): Promise<string> => {
      return await Promise.resolve(driver.add(fresh, [one], options)).then(() => 'added', String)
    }
    await expect.poll(addFresh, { timeout: 30_000 }).toContain('NOREPLICAS')
    await driver.add(known, [one], options)
    await lister.process.command('CONFIG', 'SET', 'min-replicas-to-write', 0)
    const list = async (): Promise<readonly string[] | undefined> => {
      await driver.add(known, [one], options)
      return await driver.queues?.()
    }
    await expect.poll(list, { timeout: 30_000 }).toEqual([known])
  })

  test('can be new while the list of their names moves to another server', async () => {
    const { cluster, lister, known, fresh, driver } = await openCluster()
    await driver.add(known, [one], options)
    const to = cluster.nodes.find(({ id }) => id !== lister.id)
    if (to === undefined) throw new Error('the cluster has one node')
    await cluster.moveSlot(registry, to, async () => {
      await driver.add(fresh, [one], options)
    })
    expect(await driver.queues?.()).toEqual([known, fresh].sort())
  })

  test('are listed once a process uses them again after all keys were deleted', async () => {
    const driver = await open()
    await driver.add('q', [one], options)
    await driver.add('idle', [one], options)
    await server.command('FLUSHALL')
    await driver.add('q', [one], options)
    const worker = { processId: 1, host: 'h' }
    await driver.tick('idle', { holder: 'h', worker, limit: 1, failuresExpireMs: never } as never)
    expect([...((await driver.queues?.()) ?? [])].sort()).toEqual(['idle', 'q'])
  })

  test('get workers of another process also while the memory is full', async () => {
    const first = await open()
    await first.add('q', [one], options)
    await fillMemory()
    await expect(first.add('q', [ask('b')], options)).rejects.toThrow('OOM')
    const other = await open()
    const claims = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }
    const tick = { holder: 'h', limit: 1, failuresExpireMs: never }
    await other.tick('q', tick)
    await other.tick('without keys', tick)
    expect((await other.claim('q', claims)).claims).toHaveLength(1)
  })

  test('can be moved away while the memory is full', async () => {
    const driver = await open()
    await driver.add('q', [one], options)
    await fillMemory()
    assert.equal(await driver.operate?.pause('q'), 'changed')
    assert.equal(await driver.transfer?.lastToken(), 0)
    const { rows } = await driver.list('q', { limit: 1 })
    assert.deepEqual(await driver.transfer?.dropRows('q', rows.map(transferRow)), ['dropped'])
  })

  // On a cluster, each process does so when it uses a queue first.
  test('have their tokens raised while the memory is full', async () => {
    const driver = await open()
    await driver.add('q', [one], options)
    await fillMemory()
    await driver.transfer?.raiseTokens(7)
    assert.equal(await driver.transfer?.lastToken(), 7)
  })

  test('are listed also if one had more workers in a day than a reply has values', async () => {
    const driver = await open()
    await driver.add('q', [one], options)
    const worker = { processId: 1 }
    const register = `for nth = 1, 9000 do
      redis.call('HSET', KEYS[1], 'w' .. nth, '1000 ' .. ARGV[1] .. ' ' .. ARGV[2])
    end`
    const args = [Date.now(), JSON.stringify(worker)] as const
    await server.command('EVAL', register, 1, 'sluice:{q}:workers', ...args)
    expect(await driver.queues?.()).toEqual(['q'])
    expect((await driver.workers?.('q', 60_000))?.length).toBe(9_000)
  })

  test('list parked keys in the order of the keys, whenever their runs failed', async () => {
    const driver = await open()
    const times = { dueAt: 5, laterAt: never, readyAt: 5, askedAt: 5 }
    const position = {
      seq: 7,
      priority: 0,
      failures: 1,
      crashes: 0,
      parked: true,
      trace: undefined,
    }
    const rows = ['c', 'b', 'a'].map((key, nth): TransferRow => {
      const reasons = { lastError: undefined, why: 'add', laterWhy: 'add' } as const
      return { key, item: undefined, ...reasons, ...times, ...position, failedAt: 10 + nth }
    })
    await driver.transfer?.importRows('q', rows)
    const keys: string[] = []
    for (let cursor: string | undefined, page = 0; page < 3; page += 1) {
      const reply = await driver.list('q', { state: 'parked', limit: 1, cursor })
      keys.push(...reply.rows.map(({ key }) => key))
      cursor = reply.cursor
    }
    expect(keys).toEqual(['a', 'b', 'c'])
  })
})
