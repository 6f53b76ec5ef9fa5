import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, startCluster, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ConnectionError, type Connections } from '../../src/connection/connections.ts'
import { libraries, open, refusal } from './support.ts'

async function answers(connections: Connections): Promise<boolean> {
  return await connections.send('k', ['PING']).then(
    (reply) => reply === 'PONG',
    () => false,
  )
}

describe.skipIf(!hasRedis)('broken networks', () => {
  describe.each(libraries)('with %s', (library) => {
    /** Connections through a proxy. */
    async function proxied(): Promise<{ proxy: StoreProxy; connections: Connections }> {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const proxy = await StoreProxy.start(server.port)
      onTestFinished(() => proxy.stop())
      const url = `redis://127.0.0.1:${proxy.port}`
      // A busy machine may hold up the server for longer.
      const connections = await vi.waitFor(() => open({ url, library, timeoutMs: 300 }), {
        timeout: 45_000,
      })
      return { proxy, connections }
    }

    test('a network that swallows everything is noticed, and its end too', async () => {
      const { proxy, connections } = await proxied()
      await proxy.become('silent')
      const error = await refusal(connections.send('k', ['PING']))
      assert.ok(error instanceof ConnectionError && error.wasSent)
      // New connections are swallowed as well, and nothing was sent over them.
      const next = await refusal(connections.send('k', ['PING']))
      assert.ok(next instanceof ConnectionError && !next.wasSent)
      await proxy.become('pass')
      await expect.poll(() => answers(connections)).toBe(true)
    })

    test('what was opened to a server that is silent is closed when it is given up', async () => {
      const made: Socket[] = []
      const server = createServer((socket) => made.push(socket.on('error', () => {}).resume()))
      server.listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const url = `redis://127.0.0.1:${port}`
      await refusal(open({ url, library, timeoutMs: 300 }))
      await expect.poll(() => made.map(({ closed }) => closed)).toEqual([true])
    })

    test('a connection that is open on one side only is replaced', async () => {
      const { proxy, connections } = await proxied()
      await proxy.become('half-open')
      const error = await refusal(connections.send('k', ['PING']))
      assert.ok(error instanceof ConnectionError && error.wasSent)
      await expect.poll(() => answers(connections)).toBe(true)
    })

    test('a connection that is reset while a reply is on its way has an unknown outcome', async () => {
      const { proxy, connections } = await proxied()
      const slow = connections.send('k', ['EVAL', 'for i = 1, 3e7 do end return 1', '0'])
      await proxy.become('cut')
      const error = await refusal(slow)
      assert.ok(error instanceof ConnectionError && error.wasSent)
      await proxy.become('pass')
      await expect.poll(() => answers(connections)).toBe(true)
    })

    test('a server that sleeps for less than the limit is waited for', async () => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const connections = await open({ url: server.url, library, timeoutMs: 20_000 })
      const sleep = server.command('DEBUG', 'SLEEP', '0.3')
      assert.ok(await answers(connections))
      await sleep
    })

    test('a cluster that splits: the majority is followed, and the barrier of the other side holds', async () => {
      const cluster = await startCluster({ isSplittable: true })
      onTestFinished(() => cluster.dispose())
      const url = `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
      const connections = await open({ url, library })
      const old = await cluster.primaryOf('k')
      const replica = await cluster.replicaOf(old)
      const before = connections.primaryOf('k')
      const barrier = await connections.barrier('k')
      await cluster.split([old])
      // Acknowledged by a primary that nobody follows any more, and not confirmed.
      assert.equal(await connections.send('k', ['SET', 'k', 'lost']), 'OK')
      assert.ok((await refusal(barrier.confirmed(1, 200))) instanceof ConnectionError)
      await cluster.alert()
      await expect.poll(() => replica.process.info('role')).toBe('master')
      // The old primary notices by its own clock that it is cut off, and takes writes until then.
      const kept = async (): Promise<unknown> => {
        await connections.send('k', ['SET', 'k', 'kept']).catch(() => {})
        return await replica.process.command('GET', 'k').catch(String)
      }
      await expect.poll(kept).toBe('kept')
      assert.notEqual(connections.primaryOf('k'), before)
      await cluster.join()
      await cluster.healthy()
      assert.equal(await connections.send('k', ['GET', 'k']), 'kept')
    })
  })
})
