import { never } from '@sluice/core/driver'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { scripts } from '../src/scripts.ts'

const count = 40
const item = 'x'.repeat(64_000)
const keys = Array.from({ length: count }, (_, at) => `key ${String(at).padStart(2, '0')}`)

describe.skipIf(!hasRedis)('items that are long', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
    await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 0)
    await server.command('CONFIG', 'SET', 'slowlog-max-len', 10_000)
  })

  afterAll(() => server.dispose())

  /** How many lists were sent since the last call. */
  async function lists(): Promise<number> {
    const log = (await server.command('SLOWLOG', 'GET', -1)) as [
      unknown,
      unknown,
      unknown,
      string[],
    ][]
    await server.command('SLOWLOG', 'RESET')
    return log.filter(([, , , [name = '', sha]]) => name === 'EVALSHA' && sha === scripts.list.sha)
      .length
  }

  test('are listed a few at a time, so that no script is long', async () => {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const asks = keys.map((key) => ({ key, item, priority: 0, delayMs: 0 }))
    await driver.add('q', asks, { dedupe: 'client-go', failuresExpireMs: never })
    await driver.list('q', { limit: 1 })
    await lists()
    const all = await driver.list('q', { limit: 1_000 })
    expect(all.rows.map((row) => [row.key, row.item?.length])).toEqual(
      keys.map((key) => [key, item.length]),
    )
    expect(await lists()).toBeGreaterThanOrEqual(count / 5)
    const page = await driver.list('q', { limit: 7 })
    expect(page.rows.map(({ key }) => key)).toEqual(keys.slice(0, 7))
    const rest = await driver.list('q', { limit: 1_000, cursor: page.cursor ?? '' })
    expect(rest.rows.map(({ key }) => key)).toEqual(keys.slice(7))
    await lists()
    const named = await driver.list('q', { keys: [...keys].reverse(), limit: 1_000 })
    expect(named.rows.map(({ key }) => key)).toEqual(keys)
    expect(await lists()).toBeGreaterThanOrEqual(count / 5)
  })
})
