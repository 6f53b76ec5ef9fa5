import type { Driver } from '@sluice/core/driver'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Replayed, redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

describe.skipIf(!hasRedis)('a server that comes back with a snapshot', () => {
  test.each([
    ['gets an add that it did not have as often', false],
    ['gets it also if the process has not seen one of the servers', true],
  ])('more than once %s', async (_, isAway) => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const proxy = await StoreProxy.start(server.port)
    onTestFinished(() => proxy.stop())
    const url = new URL(server.url)
    url.port = String(proxy.port)
    let onReplay: (replayed: Replayed) => void = () => {}
    const replay = (): Promise<Replayed> =>
      new Promise((resolve) => {
        onReplay = resolve
      })
    const driver = redisDriver({ url: url.href, onReplay: (one) => onReplay(one) })
    await driver.open({})
    onTestFinished(() => driver.close())
    const inAnotherProcess = async (act: (other: Driver) => unknown): Promise<void> => {
      const other = redisDriver({ url: server.url })
      await other.open({})
      await act(other)
      await other.close()
    }
    const restart = async (): Promise<void> => {
      await server.kill()
      await server.start()
    }

    await inAnotherProcess((other) => other.add('q', [ask('first')], options))
    await server.command('SAVE')
    await restart()
    await vi.waitFor(async () => await driver.add('q', [ask('added')], options), 45_000)
    // The server numbers in the same range as the one before it, whose numbers it never saw.
    await proxy.become('refuse')
    await restart()
    const more = ['a', 'b', 'c', 'd', 'e'].map(ask)
    await inAnotherProcess((other) => other.add('q', more, options))
    await server.command('SAVE')
    if (!isAway) {
      const first = replay()
      await proxy.become('pass')
      expect(await first).toMatchObject({ adds: 1 })
    }
    const second = replay()
    await restart()
    await proxy.become('pass')
    expect(await second).toMatchObject({ adds: 1 })
    const { rows } = await driver.list('q', { limit: 10 })
    expect(rows.map(({ key }) => key)).toContain('added')
  })
})
