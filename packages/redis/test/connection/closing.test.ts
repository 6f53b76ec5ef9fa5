import assert from 'node:assert/strict'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, startRedis, startReplicated } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'
import { libraries, open, refusal } from './support.ts'

/** How long a silent server is waited for, in milliseconds: longer than a close takes. */
const silentMs = 20_000

describe.skipIf(!hasRedis)('the close of a driver', () => {
  describe.each(libraries)('with %s', (library) => {
    test('does not wait for a server that is silent', async () => {
      const { primary, dispose } = await startReplicated()
      onTestFinished(dispose)
      const proxy = await StoreProxy.start(primary.port)
      onTestFinished(() => proxy.stop())
      const url = `redis://127.0.0.1:${proxy.port}`
      const driver = redisDriver({ url, library, timeoutMs: silentMs })
      await driver.open({})
      const unwatch = await driver.watch?.(() => {})
      await driver.add('q', [ask('key')], askOptions)
      await proxy.become('silent')
      const late = refusal(Promise.resolve(driver.counts('q', { cap: 1 })))
      await unwatch?.()
      await driver.close()
      // The close has ended the call, and not the time for its answer.
      assert.match(String(await late), /was closed/)
    })

    test('ends a connection that is being opened', async () => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const proxy = await StoreProxy.start(server.port)
      onTestFinished(() => proxy.stop())
      const url = `redis://127.0.0.1:${proxy.port}`
      const connections = await open({ url, library, timeoutMs: silentMs })
      await proxy.become('cut')
      await refusal(connections.send('k', ['PING']))
      await proxy.become('silent')
      // Between two attempts, calls are refused at once.
      let opening = refusal(connections.send('k', ['PING']))
      const isOpening = async (): Promise<boolean> => {
        const nextTurn = new Promise((resolve) => void setImmediate(resolve))
        if ((await Promise.race([opening, nextTurn])) === undefined) return true
        opening = refusal(connections.send('k', ['PING']))
        return false
      }
      await expect.poll(isOpening).toBe(true)
      await connections.close()
      assert.match(String(await opening), /was closed/)
    })
  })
})
