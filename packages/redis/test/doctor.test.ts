import { needs } from '@sluice/needs'
import { hasRedis, onDisk, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { doctor, type Finding, redisDriver } from '../src/index.ts'

describe.skipIf(!needs('redis-server', hasRedis))('doctor', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis({ settings: onDisk })
  })

  afterAll(() => server.dispose())

  const levels = (found: readonly Finding[]): Readonly<Record<string, string>> =>
    Object.fromEntries(found.map(({ check, level }) => [check, level]))

  test('finds nothing on a server that is set up well', async () => {
    expect(levels(await doctor({ url: server.url }))).toEqual({
      server: 'ok',
      memory: 'ok',
      disk: 'ok',
      replicas: 'ok',
      scripts: 'ok',
      clock: 'ok',
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
    expect(found.find(({ check }) => check === 'memory')?.summary).toContain('noeviction')
  })

  test('what the user may not read is a warning that says so', async () => {
    const rules = ['on', '>secret', '~*', '&*', '+@all', '-info', '-config', '-slowlog']
    await server.command('ACL', 'SETUSER', 'plain', ...rules)
    const url = server.url.replace('redis://', 'redis://plain:secret@')
    const found = await doctor({ url })
    expect(levels(found)).toMatchObject({ server: 'warning', memory: 'warning', disk: 'warning' })
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
    const add = { key: 'a', item: undefined, priority: 0, delayMs: 0 }
    expect(await driver.add('hosted', [add], options)).toMatchObject([{ outcome: 'added' }])
    const found = await doctor({ url: hosted.url })
    expect(levels(found)).toMatchObject({ server: 'warning', memory: 'warning', disk: 'warning' })
  })

  test('expired leases that no worker reclaims are counted', async () => {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    await driver.add('late', [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }], options)
    await driver.claim('late', { limit: 1, holder: 'h', claimId: 'c', leaseMs: -120_000 })
    const found = await doctor({ url: server.url })
    expect(found.find(({ check }) => check === 'leases')?.facts).toEqual({ late: 1 })
  })
})
