import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { never } from '@sluice/core'
import {
  hasRedis,
  slotOf,
  startCluster,
  startRedis,
  startReplicated,
  startSentinel,
} from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { messageOf } from '../../src/clients/link.ts'
import { ConnectionError, ReplyError } from '../../src/connection/connections.ts'
import { storeError } from '../../src/connection/errors.ts'
import { redisDriver } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'
import { libraries, open, refusal } from './support.ts'

test('a lost reply is an unknown outcome, and a command that was not sent is tried again', () => {
  const lost = storeError(new ConnectionError('gone', true))
  assert.deepEqual([lost.code, lost.retryable], ['ERR_UNKNOWN_OUTCOME', false])
  const unsent = storeError(new ConnectionError('gone', false))
  assert.deepEqual([unsent.code, unsent.retryable], ['ERR_STORE', true])
  const other = storeError(new ReplyError('WRONGTYPE no'))
  assert.deepEqual([other.code, other.retryable], ['ERR_STORE', false])
  assert.match(other.message, /another program has written a key under the prefix/)
  for (const reply of [
    "ERR unknown command 'EVALSHA', with args beginning with: 'c6' ",
    "NOPERM this user has no permissions to run the 'evalsha' command",
    "ERR The user executing the script can't run this command or subcommand script: c6, on @user_script:2.",
    "ERR ACL failure in script: User app has no permissions to run the 'zadd' command script: c6, on @user_script:2.",
    'ERR ACL failure in script: No permissions to access a channel script: c6, on @user_script:2.',
  ]) {
    const withheld = storeError(new ReplyError(reply))
    assert.deepEqual([withheld.code, withheld.retryable], ['ERR_STORE', false])
    assert.match(withheld.message, /grant it to the user, and rename no command/)
  }
})

test('what a server that cannot be reached says is shown also in a realm of its own, as in a test of Jest', () => {
  const refused =
    "Object.assign(new Error('connect ECONNREFUSED ::1:6379'), { code: 'ECONNREFUSED' })"
  for (const thrown of [refused, `new AggregateError([${refused}])`]) {
    assert.equal(messageOf(runInNewContext(thrown)), 'connect ECONNREFUSED ::1:6379')
  }
})

describe.skipIf(!hasRedis)('errors of servers', () => {
  test('a script that lacks a command, since the server was started again without it, says what to do', async () => {
    const server = await startRedis({ settings: ['rename-command ZRANK hidden'] })
    onTestFinished(() => server.dispose())
    const connections = await open({ url: server.url, library: 'redis' })
    for (const call of ['call', 'acl_check_cmd']) {
      const script = `return redis.${call}('ZRANK', 'a', '0')`
      const error = storeError(await refusal(connections.send('a', ['EVAL', script, '0'])))
      assert.match(error.message, /grant it to the user, and rename no command/)
    }
  })

  /** The code of the error that a write gets. */
  async function writeError(url: string, library: 'redis' | 'ioredis'): Promise<unknown> {
    const write = async (): Promise<void> => {
      const connections = await open({ url, library })
      await connections.send('a', ['SET', 'a', 'x'.repeat(1_000)])
    }
    const error = storeError(await refusal(write()))
    return [error.code, error.retryable]
  }

  test.each(libraries)(
    '%s: full, read-only, without replicas, and not permitted',
    async (library) => {
      const servers = await startReplicated()
      onTestFinished(() => servers.dispose())
      const [replica] = servers.replicas
      assert.deepEqual(await writeError(replica?.url ?? '', library), ['ERR_STORE_BUSY', true])
      const { primary } = servers
      await primary.command('CONFIG', 'SET', 'min-replicas-to-write', 2)
      assert.deepEqual(await writeError(primary.url, library), ['ERR_STORE', true])
      await primary.command('CONFIG', 'SET', 'min-replicas-to-write', 0)
      await primary.command('CONFIG', 'SET', 'maxmemory', 1)
      assert.deepEqual(await writeError(primary.url, library), ['ERR_STORE_FULL', true])
      await primary.command(
        'ACL',
        'SETUSER',
        'reader',
        'on',
        '>pw',
        '~*',
        '+@read',
        '+ping',
        '+wait',
      )
      const url = `redis://reader:pw@127.0.0.1:${primary.port}`
      assert.deepEqual(await writeError(url, library), ['ERR_STORE', false])
    },
  )

  test('a server that refuses writes answers everything that an export asks', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('q', [ask('a')], askOptions)
    const request = { limit: 1, leaseMs: 30_000, holder: 'h', claimId: 'c', dueBy: undefined }
    const { claims } = await driver.claim('q', request)
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 1)
    const { rows } = await driver.list('q', { limit: 10 })
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['a'],
    )
    assert.deepEqual(await driver.buckets?.(), [])
    assert.equal(await driver.transfer?.lastToken(), claims[0]?.token)
  })

  test('a store can be opened while its server refuses writes, and read', async () => {
    const server = await startRedis({ settings: ['min-replicas-to-write 1'] })
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    assert.deepEqual((await driver.list('q', { limit: 10 })).rows, [])
    const add = async () => await driver.add('q', [ask('a')], askOptions)
    await assert.rejects(add, { code: 'ERR_STORE', retryable: true, message: /NOREPLICAS/ })
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 0)
    assert.equal((await add())[0]?.outcome, 'added')
  })

  test.each(libraries)(
    '%s: an error of connecting says where to, why not, and what to do',
    async (library) => {
      const server = await startRedis({ settings: ['requirepass secret'], password: 'secret' })
      onTestFinished(() => server.dispose())
      const at = `127.0.0.1:${server.port}`
      const correct = '; correct the user and the password in the options'
      for (const [url, says, advice] of [
        [`redis://${at}`, `to ${at}: NOAUTH `, correct],
        [`redis://:hushed@${at}`, `to ${at}: WRONGPASS `, correct],
        [`redis://joe:hushed@${at}`, `to ${at}: WRONGPASS `, correct],
        [
          `redis-cluster://:secret@${at}`,
          'cluster support disabled',
          '; connect to it by redis://',
        ],
      ] as const) {
        const { message } = storeError(await refusal(open({ url, library })))
        for (const part of [says, advice]) assert.ok(message.includes(part), message)
        assert.ok(!/hushed|secret/.test(message), message)
      }
    },
  )

  test.each(libraries)(
    '%s: an error of connecting shows no password, and neither do its causes',
    async (library) => {
      // A server that is too old repeats the command, and ioredis adds the one that has failed to its errors.
      const settings = ['requirepass secret', 'rename-command HELLO ""']
      const server = await startRedis({ settings, password: 'secret' })
      onTestFinished(() => server.dispose())
      const url = `redis://joe:hushed@127.0.0.1:${server.port}`
      const error = storeError(await refusal(open({ url, library })))
      assert.match(error.message, /no connection to 127.*: (WRONGPASS|ERR unknown command 'HELLO')/)
      assert.doesNotMatch(inspect(error, { depth: Infinity, showHidden: true }), /hushed/)
    },
  )

  test.each(libraries)('%s: where one side has TLS only, the error says so', async (library) => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    // What a server of TLS does with a client that has none.
    const closing = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    await new Promise<void>((resolve) => {
      closing.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => void closing.close())
    const { port } = closing.address() as AddressInfo
    for (const url of [`rediss://127.0.0.1:${server.port}`, `redis://127.0.0.1:${port}`]) {
      const { message } = storeError(await refusal(open({ url, library, timeoutMs: 300 })))
      assert.match(message, /no connection to 127.*; check the address, whether it needs TLS/)
    }
  })

  test.each(libraries)(
    '%s: a server with as many clients as it takes is named',
    async (library) => {
      const server = await startRedis({ settings: ['maxclients 3'] })
      onTestFinished(() => server.dispose())
      const others = Array.from({ length: 3 }, () => connect(server.port, '127.0.0.1'))
      onTestFinished(() => {
        for (const other of others) other.destroy()
      })
      for (const other of others) other.on('error', () => {})
      await Promise.all(others.map((other) => once(other, 'connect')))
      const { message } = storeError(await refusal(open({ url: server.url, library })))
      assert.match(message, /no connection to 127.*(max number of clients|maxclients)/)
    },
  )

  test('a server that is no Sentinel is named', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const url = `redis-sentinel://127.0.0.1:${server.port}/primary`
    const { message } = storeError(await refusal(open({ url })))
    const says = `the Sentinel at 127.0.0.1:${server.port} answered: ERR unknown command 'SENTINEL'`
    assert.ok(message.includes(says), message)
    assert.match(message, /; it is no Sentinel: connect to it by redis:\/\/ \[/)
  })

  test.each(libraries)('%s: a Sentinel in the place of a server is named', async (library) => {
    const { sentinels, dispose } = await startSentinel()
    onTestFinished(dispose)
    const at = `127.0.0.1:${sentinels[0]?.port}`
    for (const url of [`redis://${at}`, `redis-cluster://${at}`]) {
      const opening = Promise.resolve(redisDriver({ url, library }).open({}))
      const says =
        /; a Sentinel has no such command: connect to it by redis-sentinel:\/\/host:port\/name/
      assert.match(String(await refusal(opening)), says)
    }
  })

  test.each(libraries)(
    '%s: a database that the server refuses is not replaced by another',
    async (library) => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      await server.command('ACL', 'SETUSER', 'kept', 'on', '>pw', '~*', '&*', '+@all', '-select')
      for (const [user, database, why] of [
        ['', 99, 'DB index is out of range'],
        ['kept:pw@', 3, "no permissions to run the 'select' command"],
      ] as const) {
        const url = `redis://${user}127.0.0.1:${server.port}/${database}`
        const error = storeError(await refusal(open({ url, library })))
        assert.deepEqual([error.code, error.retryable], ['ERR_STORE', true])
        assert.ok(error.message.includes(why), error.message)
      }
    },
  )

  test.each(libraries)('%s: a script that runs for long is busy', async (library) => {
    const server = await startRedis({ settings: ['busy-reply-threshold 1'] })
    onTestFinished(() => server.dispose())
    const connections = await open({ url: server.url, library })
    const endless = server.command('EVAL', 'while true do end', 0).catch(() => {})
    await expect
      .poll(async () => {
        const reply = await connections.send('a', ['GET', 'a']).catch((error) => error)
        return reply instanceof Error ? storeError(reply).code : 'answered'
      })
      .toBe('ERR_STORE_BUSY')
    await connections.send('a', ['SCRIPT', 'KILL'])
    await endless
  })

  test.each(libraries)('%s: a cluster that lost slots is busy', async (library) => {
    const cluster = await startCluster({ primaries: 3, replicas: 0 })
    onTestFinished(() => cluster.dispose())
    const url = `redis-cluster://127.0.0.1:${cluster.nodes[0]?.port}`
    const connections = await open({ url, library })
    const key = 'a'
    const kept = await cluster.primaryOf(key)
    const lost = cluster.nodes.find((node) => node !== kept)
    await lost?.process.kill()
    await cluster.alert()
    await expect
      .poll(async () => {
        const reply = await connections.send(key, ['SET', key, '1']).catch((error) => error)
        return reply instanceof Error ? storeError(reply).code : 'answered'
      })
      .toBe('ERR_STORE_BUSY')
  })

  test.each(libraries)(
    '%s: one server of a cluster names the address of clusters',
    async (library) => {
      const cluster = await startCluster({ primaries: 3, replicas: 0 })
      onTestFinished(() => cluster.dispose())
      const driver = redisDriver({ url: `redis://127.0.0.1:${cluster.nodes[0]?.port}`, library })
      await driver.open({})
      onTestFinished(() => driver.close())
      const options = { dedupe: 'client-go', failuresExpireMs: never } as const
      await expect(driver.add('q', [ask('a')], options)).rejects.toThrow(
        'connect to it by redis-cluster://',
      )
    },
  )

  test('primaries that name each other for a slot cannot be reached, and no address is advised', async () => {
    const cluster = await startCluster({ primaries: 3, replicas: 0 })
    onTestFinished(() => cluster.dispose())
    const owner = await cluster.primaryOf('a')
    const other = cluster.nodes.find((node) => node !== owner)
    assert.ok(other)
    const connections = await open({ url: `redis-cluster://127.0.0.1:${owner.port}` })
    await owner.process.command('CLUSTER', 'SETSLOT', slotOf('a'), 'NODE', other.id)
    const error = storeError(await refusal(connections.send('a', ['SET', 'a', '1'])))
    assert.deepEqual([error.code, error.retryable], ['ERR_STORE', true])
    assert.match(error.message, /do not agree/)
    assert.doesNotMatch(error.message, /connect to it/)
  })
})
