import assert from 'node:assert/strict'
import {
  hasRedis,
  type RedisCluster,
  type RedisProcess,
  type ReplicatedRedis,
  startCluster,
  startRedis,
  startReplicated,
  startSentinel,
} from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ConnectionError, type Connections, ReplyError } from '../../src/connection/connections.ts'
import { libraries, open, refusal } from './support.ts'

describe.skipIf(!hasRedis)('connections', () => {
  describe.each(libraries)('with %s', (library) => {
    describe('to one server', () => {
      let server: RedisProcess

      beforeAll(async () => {
        server = await startRedis()
      })

      afterAll(() => server.dispose())

      test('replies arrive in the order of the calls, texts as strings', async () => {
        const connections = await open({ url: server.url, library })
        const numbers = await Promise.all(
          Array.from({ length: 300 }, (_, n) =>
            connections.send('k', ['INCRBY', library, String(n)]),
          ),
        )
        assert.deepEqual(
          numbers,
          [...numbers].sort((a, b) => Number(a) - Number(b)),
        )
        const script = "return {1, 'ü', false, {'', {}}, redis.status_reply('five'), '1.5'}"
        assert.deepEqual(await connections.send('k', ['EVAL', script, '0']), [
          1,
          'ü',
          null,
          ['', []],
          'five',
          '1.5',
        ])
        await connections.send('h', ['HSET', `h${library}`, 'a', '1'])
        assert.deepEqual(await connections.send('h', ['HGETALL', `h${library}`]), ['a', '1'])
        assert.equal(connections.replicas, 0)
      })

      test('an error of the server is a ReplyError with its code', async () => {
        const connections = await open({ url: server.url, library })
        const error = await refusal(connections.send('k', ['EVALSHA', '0'.repeat(40), '0']))
        assert.ok(error instanceof ReplyError)
        assert.equal(error.code, 'NOSCRIPT')
      })

      test('a message arrives, and none after the end of the subscription', async () => {
        const connections = await open({ url: server.url, library })
        const seen: string[] = []
        const end = await connections.subscribe('news', {
          onMessage: (text) => seen.push(text),
          onGap: () => {},
        })
        await server.command('PUBLISH', 'news', 'one')
        await expect.poll(() => seen).toEqual(['one'])
        await end()
        assert.equal(await server.command('PUBLISH', 'news', 'two'), 0)
        // Commands and messages do not get in each other's way.
        assert.equal(await connections.send('k', ['PING']), 'PONG')
      })

      test('a subscription that begins while another to its channel ends gets messages', async () => {
        const connections = await open({ url: server.url, library })
        const first = await connections.subscribe('again', { onMessage: () => {}, onGap: () => {} })
        const seen: string[] = []
        const ended = first()
        await connections.subscribe('again', {
          onMessage: (text) => seen.push(text),
          onGap: () => {},
        })
        await ended
        assert.equal(await server.command('PUBLISH', 'again', 'one'), 1)
        await expect.poll(() => seen).toEqual(['one'])
      })

      test('connections that are killed are opened again, and the gap is reported to the subscriber', async () => {
        const connections = await open({ url: server.url, library })
        let gaps = 0
        await connections.subscribe('wake', { onMessage: () => {}, onGap: () => (gaps += 1) })
        const before = connections.primaryOf('k')
        await server.command('CLIENT', 'KILL', 'TYPE', 'normal')
        await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await expect.poll(() => gaps).toBeGreaterThan(0)
        await expect.poll(() => connections.send('k', ['PING']).catch(() => '')).toBe('PONG')
        assert.equal(connections.primaryOf('k'), before)
      })
    })

    test('a command without a reply is not sent again, and what follows is not queued', async () => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      // A machine that is busy may take more than the limit.
      const connections = await vi.waitFor(
        () => open({ url: server.url, library, timeoutMs: 300 }),
        { timeout: 45_000 },
      )
      const set = () => connections.send('n', ['SET', 'n', '0']).catch(() => '')
      await expect.poll(set).toBe('OK')
      server.pause()
      const lost = refusal(connections.send('n', ['INCR', 'n']))
      // It arrives before the server is resumed.
      const error = await lost
      assert.ok(error instanceof ConnectionError)
      assert.ok(error.wasSent)
      assert.match(error.message, /silent for 300 ms/)
      server.resume()
      await expect.poll(() => connections.send('n', ['GET', 'n']).catch(() => '')).toBe('1')
    })

    test('while the server is away, commands are rejected as not sent; after a restart it is another primary', async () => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const connections = await open({ url: server.url, library })
      const before = connections.primaryOf('k')
      let changes = 0
      connections.watchPrimaries(() => (changes += 1))
      await server.kill()
      const send = () => refusal(connections.send('k', ['PING']))
      await expect
        .poll(async () => {
          const error = await send()
          return error instanceof ConnectionError && !error.wasSent && error.message
        })
        .toMatch(/^no connection: .*ECONNREFUSED 127\.0\.0\.1:\d+$/)
      // Between two attempts, the error of the last one says it once.
      for (const error of [await send(), await send(), await send()]) {
        assert.doesNotMatch(String(error), /no connection.*no connection/)
      }
      await server.start()
      await expect.poll(() => changes).toBe(1)
      assert.notEqual(connections.primaryOf('k'), before)
      assert.equal(await connections.send('k', ['PING']), 'PONG')
    })

    describe('to a primary with a replica', () => {
      let servers: ReplicatedRedis

      beforeAll(async () => {
        servers = await startReplicated()
      })

      afterAll(() => servers.dispose())

      test('a barrier says yes when the replica has what was written, and no while it stands still', async () => {
        const connections = await open({ url: servers.url, library })
        const [replica] = servers.replicas
        assert.equal(connections.replicas, 1)
        await confirmedWrite(connections, 'a')
        assert.equal(await replica?.command('GET', 'a'), 'written')
        replica?.pause()
        try {
          const barrier = await connections.barrier('a')
          await connections.send('a', ['SET', 'a', 'later'])
          const refused = refusal(barrier.confirmed(1, 100))
          // Commands go on meanwhile.
          assert.equal(await connections.send('a', ['GET', 'a']), 'later')
          assert.ok((await refused) instanceof ConnectionError)
          await connections.progress('a')
          assert.equal((await connections.progress('a')).following, 0)
        } finally {
          replica?.resume()
        }
        const barrier = await connections.barrier('a')
        await barrier.confirmed(1, 30_000)
        // A later server than this answers for nothing that its connection did not write.
        const stats = String(await replica?.command('INFO', 'commandstats'))
        assert.match(stats, /cmdstat_unlink/)
        assert.equal(await replica?.command('EXISTS', '{a}:mark'), 0)
        // A replica reports once a second without being asked.
        await expect.poll(async () => (await connections.progress('a')).following).toBe(1)
      })

      test('a barrier whose connection was opened again does not say yes', async () => {
        const connections = await open({ url: servers.url, library })
        const [replica] = servers.replicas
        const barrier = await connections.barrier('a')
        await connections.send('a', ['SET', 'a', 'written'])
        replica?.pause()
        try {
          await servers.primary.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
          await expect.poll(() => connections.send('a', ['PING']).catch(() => '')).toBe('PONG')
          assert.ok((await refusal(barrier.confirmed(1, 5_000))) instanceof ConnectionError)
        } finally {
          replica?.resume()
        }
      })

      test('replicas are counted also while others write and INFO is withheld', async () => {
        const rules = ['on', '>pw', '~*', '&*', '+@all', '-info']
        await servers.primary.command('ACL', 'SETUSER', 'counter', ...rules)
        const url = servers.primary.url.replace('//', '//counter:pw@')
        let isWriting = true
        const writing = (async () => {
          while (isWriting) await servers.primary.command('SET', 'busy', 1)
        })()
        onTestFinished(async () => {
          isWriting = false
          await writing
        })
        await vi.waitFor(
          async () => assert.equal((await open({ url, library })).replicas, 1),
          45_000,
        )
      })

      test('a user that may not read the run id gets barriers that hold, and every connection is a change', async () => {
        const { primary } = servers
        await primary.command(
          'ACL',
          'SETUSER',
          'app',
          'on',
          '>pw',
          '~*',
          '&*',
          '+@all',
          '-@admin',
          '-@dangerous',
        )
        const url = `redis://app:pw@127.0.0.1:${primary.port}`
        const connections = await open({ url, library })
        await confirmedWrite(connections, 'b')
        const before = connections.primaryOf('b')
        await primary.command('CLIENT', 'KILL', 'USER', 'app')
        await expect.poll(() => connections.primaryOf('b')).not.toBe(before)
        await confirmedWrite(connections, 'b')
      })
    })

    test('Sentinel leads to the replica that was promoted', async () => {
      const servers = await startSentinel()
      onTestFinished(() => servers.dispose())
      const [sentinel] = servers.sentinels
      const url = `redis-sentinel://127.0.0.1:${sentinel?.port}/${servers.name}`
      const connections = await open({ url, library })
      let changes = 0
      connections.watchPrimaries(() => (changes += 1))
      await confirmedWrite(connections, 'a')
      const first = await servers.primary()
      await first.kill()
      await servers.promoted(first)
      await expect.poll(() => connections.send('a', ['GET', 'a']).catch(() => '')).toBe('written')
      assert.equal(changes, 1)
    })

    /** Makes commands fail on a primary without replicas, or asks it how far its replicas are. */
    const signs: Readonly<Record<string, (connections: Connections) => Promise<unknown>>> = {
      'writes are refused': (connections) => connections.send('a', ['SET', 'a', 'x']),
      'replicas are counted': (connections) => connections.progress('a'),
      'a write is not confirmed': async (connections) => {
        const barrier = await connections.barrier('a')
        await barrier.confirmed(1, 1)
      },
    }

    test.each(Object.keys(signs))(
      'Sentinel leads away from a primary that does not know that it was replaced: %s',
      async (sign) => {
        const servers = await startSentinel()
        onTestFinished(() => servers.dispose())
        const [sentinel] = servers.sentinels
        const url = `redis-sentinel://127.0.0.1:${sentinel?.port}/${servers.name}`
        const connections = await open({ url, library })
        await confirmedWrite(connections, 'a')
        const first = await servers.primary()
        const least = sign === 'writes are refused' ? 1 : 0
        await first.command('CONFIG', 'SET', 'min-replicas-to-write', least)
        // Otherwise Sentinel demotes it ten seconds later, if it can reach it.
        await first.command('ACL', 'SETUSER', 'default', '-slaveof', '-replicaof')
        const second = await servers.replaced(first)
        const port = async (): Promise<unknown> => {
          await signs[sign]?.(connections).catch(() => {})
          return await connections.send('a', ['CONFIG', 'GET', 'port']).catch(() => '')
        }
        await expect.poll(port).toEqual(['port', String(second.port)])
      },
    )

    test('a Sentinel that is silent is not waited for', async () => {
      const servers = await startSentinel({ sentinels: 3 })
      onTestFinished(() => servers.dispose())
      const [first] = servers.sentinels
      const hosts = servers.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
      first?.pause()
      try {
        const url = `redis-sentinel://${hosts}/${servers.name}`
        const connections = await open({ url, library, timeoutMs: 300_000 })
        assert.equal(await connections.send('a', ['PING']), 'PONG')
      } finally {
        // Before the servers are disposed of, or its connection would be waited for.
        await first?.kill()
      }
    })

    describe('to a cluster', () => {
      let cluster: RedisCluster

      beforeAll(async () => {
        cluster = await startCluster()
      })

      afterAll(() => cluster.dispose())

      test('keys of every slot are written, and confirmed by replicas', async () => {
        const connections = await open({ url: clusterUrl(cluster), library })
        assert.ok(connections.isCluster)
        assert.equal(connections.replicas, 1)
        const keys = Array.from({ length: 30 }, (_, n) => `key ${n}`)
        await Promise.all(keys.map((key) => confirmedWrite(connections, key)))
        assert.equal(new Set(keys.map((key) => connections.primaryOf(key))).size, 3)
        assert.equal((await connections.sendToAll(['PING'])).length, 3)
      })

      test('a slot that moves takes its commands and its subscription along', async () => {
        const connections = await open({ url: clusterUrl(cluster), library })
        const { seen, gaps } = await subscribed(connections, '{moved}:wake')
        await connections.send('{moved}:1', ['SET', '{moved}:1', 'x'])
        const from = await cluster.primaryOf('{moved}:1')
        const to = (await cluster.primaries()).find((node) => node !== from)
        assert.ok(to !== undefined)
        const before = connections.primaryOf('{moved}:1')
        await cluster.moveSlot('{moved}:1', to, async () => {
          // The key has moved, the slot has not: the old primary sends the command on.
          assert.equal(await connections.send('{moved}:1', ['GET', '{moved}:1']), 'x')
        })
        assert.equal(await connections.send('{moved}:1', ['GET', '{moved}:1']), 'x')
        await expect.poll(() => gaps.length).toBeGreaterThan(0)
        await expect.poll(() => connections.primaryOf('{moved}:1')).not.toBe(before)
        await expect.poll(() => to.process.command('SPUBLISH', '{moved}:wake', 'hello')).toBe(1)
        await expect.poll(() => seen).toContain('hello')
      })

      test('a replica that takes over, by command and after a kill, is found without a command', async () => {
        const connections = await open({ url: clusterUrl(cluster), library })
        let changes = 0
        connections.watchPrimaries(() => (changes += 1))
        const { seen } = await subscribed(connections, '{k}:wake')
        await confirmedWrite(connections, '{k}')
        const first = await cluster.primaryOf('{k}')
        await first.process.kill()
        const second = await cluster.promoted('{k}', first)
        await expect.poll(() => changes).toBeGreaterThan(0)
        // The nodes that know their new primary do not serve yet.
        await expect
          .poll(() => connections.send('{k}', ['GET', '{k}']).catch(() => ''))
          .toBe('written')
        await expect.poll(() => second.process.command('SPUBLISH', '{k}:wake', 'one')).toBe(1)
        await expect.poll(() => seen).toContain('one')
        await first.process.start()
        await cluster.healthy()
        await cluster.failOver(first)
        await cluster.promoted('{k}', second)
        await expect
          .poll(() => connections.send('{k}', ['GET', '{k}']).catch(() => ''))
          .toBe('written')
        await cluster.healthy()
        await expect.poll(() => first.process.command('SPUBLISH', '{k}:wake', 'two')).toBe(1)
        await confirmedWrite(connections, '{k}')
      })
    })
  })
})

function clusterUrl(cluster: RedisCluster): string {
  return `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
}

async function confirmedWrite(connections: Connections, key: string): Promise<void> {
  const barrier = await connections.barrier(key)
  await connections.send(key, ['SET', key, 'written'])
  await barrier.confirmed(1, 30_000)
}

async function subscribed(
  connections: Connections,
  channel: string,
): Promise<{ seen: string[]; gaps: string[] }> {
  const seen: string[] = []
  const gaps: string[] = []
  await connections.subscribe(channel, {
    onMessage: (text) => seen.push(text),
    onGap: () => gaps.push(channel),
  })
  return { seen, gaps }
}
