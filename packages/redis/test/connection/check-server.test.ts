import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import {
  hasRedis,
  type RedisProcess,
  type Reply,
  startCluster,
  startRedis,
  startReplicated,
} from '@sluice/test-redis'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { checkServer } from '../../src/connection/check-server.ts'
import type { Connections } from '../../src/connection/connections.ts'
import { redisDriver } from '../../src/index.ts'
import { scriptTexts } from '../../src/scripts.generated.ts'
import { ask } from '../support/asks.ts'
import { libraries, open, refusal } from './support.ts'

describe.skipIf(!hasRedis)('the check of a server', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  beforeEach(async () => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  })

  async function checked(url: string, acceptsEviction = false): Promise<void> {
    await checkServer(await open({ url }), { prefix: 'sluice:', acceptsEviction })
  }

  async function problem(url: string): Promise<string> {
    const error = await refusal(checked(url))
    assert.ok(SluiceError.is(error, 'ERR_STORE'))
    assert.equal(error.retryable, false)
    return error.message
  }

  async function user(...rules: readonly string[]): Promise<string> {
    await server.command('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', ...rules)
    return `redis://app:pw@127.0.0.1:${server.port}`
  }

  test('a server without a limit of its memory is accepted, and nothing is left in it', async () => {
    await checked(server.url)
    assert.equal(await server.command('DBSIZE'), 0)
  })

  /** The commands that scripts use on one server. */
  function usedNames(): readonly string[] {
    const uses = /\b(?:call|inSlices|readAll|writeAll)\('([A-Z]+)'/g
    const texts = Object.values(scriptTexts).join('\n')
    const used = [...texts.matchAll(uses)].map(([, name = '']) => name)
    const names = [...new Set([...used, 'ZSCORE'])].filter((name) => name !== 'CLUSTER')
    assert.ok(names.length > 15)
    return names
  }

  test('a user needs the commands that scripts use, and no others', async () => {
    const names = [...usedNames(), 'PUBLISH']
    const granted = ['~sluice:*', '&sluice:*', '+eval', ...names.map((name) => `+${name}`)]
    await checked(await user(...granted))
    for (const name of names) {
      const message = await problem(await user(...granted, `-${name}`))
      assert.match(message, new RegExp(`may not use ${name};`))
    }
  })

  test('a right that is withdrawn while queues are in use leaves no verb half done', async () => {
    const driver = redisDriver({ url: await user('~sluice:*', '&sluice:*', '+@all') })
    await driver.open({})
    onTestFinished(async () => {
      await driver.close()
      await server.command('FLUSHALL')
    })
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    for (const name of usedNames()) {
      /** Does it without the right, which fails, and then with it. */
      const twice = async <T>(verb: () => T): Promise<Awaited<T>> => {
        await server.command('ACL', 'SETUSER', 'app', `-${name}`)
        await assert.rejects(async () => await verb(), {
          code: 'ERR_STORE',
          message: /; queues need it: grant it to the user/,
        })
        await server.command('ACL', 'SETUSER', 'app', `+${name}`)
        return await verb()
      }
      const added = await twice(() => driver.add(name, [ask('a')], options))
      expect(added).toMatchObject([{ outcome: 'added' }])
      const request = { limit: 2, holder: 'h', claimId: name, leaseMs: 60_000 }
      const { claims } = await twice(() => driver.claim(name, request))
      expect(claims).toMatchObject([{ key: 'a' }])
      const { token = 0 } = claims[0] ?? {}
      const done = [{ as: 'done', key: 'a', token, forget: true }] as const
      const finished = await twice(() => driver.finish(name, done, options))
      expect(finished).toMatchObject([{ outcome: 'idle' }])
    }
  })

  test('scripts ask for their rights with as many arguments as commands need, as Redis 8 demands', async () => {
    const commands = (await server.command('COMMAND')) as readonly (readonly Reply[])[]
    const arities = commands.map(([name, arity]) => [String(name).toUpperCase(), arity])
    const [asks = ''] = /local isAllowed.*?(?=local inf )/s.exec(scriptTexts.add) ?? []
    const script = `
local server, arities = redis, cjson.decode(ARGV[1])
local asked = 0
local redis = {
  acl_check_cmd = function(name, ...)
    local arity, count = arities[name], 1 + select('#', ...)
    if count < math.abs(arity) or arity > 0 and count > arity then
      error('Wrong number of args for redis.acl_check_cmd() of ' .. name)
    end
    asked = asked + 1
    return server.acl_check_cmd(name, ...)
  end,
}
${asks}
return asked`
    const known = JSON.stringify(Object.fromEntries(arities))
    const count = await server.command('EVAL', script, 1, 'sluice:{q}:rows', known)
    assert.ok(Number(count) > 15, `${count} rights`)
  })

  test('a server that may evict keys is refused, unless that is accepted', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    assert.match(await problem(server.url), /maxmemory-policy allkeys-lru.*acceptsEviction: true/)
    await checked(server.url, true)
  })

  test('a server that is refused, also since it is a replica, has no connection left', async () => {
    const { primary, replicas, dispose } = await startReplicated()
    onTestFinished(dispose)
    await primary.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    for (const refusing of [primary, replicas[0]!]) {
      const clients = async () => String(await refusing.command('CLIENT', 'LIST', 'TYPE', 'normal'))
      const count = async () => (await clients()).trim().split('\n').length
      const before = await count()
      const error = await refusal(Promise.resolve(redisDriver({ url: refusing.url }).open({})))
      assert.match(String(error), /allkeys-lru|is a replica/)
      await expect.poll(count).toBe(before)
    }
  })

  test('a server that evicts only keys that expire is accepted, and keeps queues when it is full', async () => {
    const full = await startRedis({ settings: ['maxmemory-policy volatile-lru'] })
    onTestFinished(() => full.dispose())
    await checked(full.url)
    const driver = redisDriver({ url: full.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const
    await driver.add('q', [ask('a')], options)
    await full.command('SET', 'cache', 'x', 'EX', 1_000)
    await full.command('CONFIG', 'SET', 'maxmemory', 1)
    const refused = async () => await driver.add('q', [ask('b')], options)
    await assert.rejects(refused, { code: 'ERR_STORE_FULL' })
    assert.equal(await full.command('EXISTS', 'cache'), 0)
    assert.equal((await driver.counts('q', { cap: 10 })).ready, 1)
  })

  test('a server whose memory is full can still be opened', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory', 1)
    onTestFinished(async () => {
      await server.command('CONFIG', 'SET', 'maxmemory', 0)
    })
    await checked(server.url)
  })

  test('a user without the rights of an administrator is accepted', async () => {
    const url = await user('~sluice:*', '&sluice:*', '+@all', '-@admin', '-@dangerous')
    await checked(url)
  })

  test('a server before Redis 7.0, which reads no flags of scripts, is refused as too old', async () => {
    const connections = await open({ url: server.url })
    // After a space, this server takes the flags for Lua as well.
    const send: Connections['send'] = async (key, command) => {
      if (typeof command === 'function') return await connections.send(key, command)
      const [name = '', text = '', ...args] = command
      return await connections.send(key, [name, ` ${text}`, ...args])
    }
    const old = Object.assign(Object.create(connections) as Connections, { send })
    const error = await refusal(checkServer(old, { prefix: 'sluice:', acceptsEviction: false }))
    assert.ok(SluiceError.is(error, 'ERR_STORE'))
    assert.equal(error.retryable, false)
    assert.match(error.message, /^this server is older than Redis 7.0, which queues need/)
  })

  test('a command that the user lacks is named', async () => {
    const url = await user(
      '~sluice:*',
      '&sluice:*',
      '+@all',
      '-@admin',
      '-@dangerous',
      '-zadd',
      '-time',
    )
    assert.match(await problem(url), /may not use ZADD, TIME; .*\+zadd \+time/)
    assert.equal(await server.command('DBSIZE'), 0)
  })

  test('commands and channels that the user lacks are named also as servers after Redis 7.0 say it', async () => {
    const connections = await open({ url: server.url })
    // This server says it in other words.
    const inLaterWords = `
local server = redis
local denials = {
  ZADD = "ERR ACL failure in script: User app has no permissions to run the 'zadd' command",
  PUBLISH = 'ERR ACL failure in script: No permissions to access a channel',
}
local redis = {
  pcall = function(name, ...)
    return denials[name] and { err = denials[name] } or server.pcall(name, ...)
  end,
}
`
    const send: Connections['send'] = async (key, command) => {
      if (typeof command === 'function') return await connections.send(key, command)
      return await connections.send(
        key,
        command.map((word, at) => (at === 1 ? word.replace('\n', inLaterWords) : word)),
      )
    }
    const later = Object.assign(Object.create(connections) as Connections, { send })
    const error = await refusal(checkServer(later, { prefix: 'sluice:', acceptsEviction: false }))
    assert.match(String(error), /may not use ZADD, PUBLISH; .*\+zadd \+publish .*&sluice:/)
  })

  test('a command that the server does not have is named', async () => {
    const without = await startRedis({ settings: ['rename-command PUBLISH ""'] })
    onTestFinished(() => without.dispose())
    assert.match(await problem(without.url), /does not have PUBLISH, .*rename-command/)
    assert.equal(await without.command('DBSIZE'), 0)
  })

  test('channels that the user lacks are named', async () => {
    const url = await user('~sluice:*', 'resetchannels', '+@all', '-@admin', '-@dangerous')
    assert.match(await problem(url), /may not use PUBLISH; .*&sluice:\*/)
  })

  test.each(libraries)('%s: a watch without the right to subscribe says so', async (library) => {
    const driver = redisDriver({
      url: await user('~sluice:*', '&sluice:*', '+@all', '-subscribe'),
      library,
    })
    await driver.open({})
    onTestFinished(() => driver.close())
    await expect(driver.watch?.(() => {})).rejects.toThrow(/NOPERM .*subscribe.*grant it/)
  })

  test.each(libraries)('%s: a watch in a cluster says so, too', async (library) => {
    const cluster = await startCluster({ replicas: 0 })
    onTestFinished(() => cluster.dispose())
    const rules = ['on', '>pw', '~*', '&*', '+@all', '-ssubscribe']
    for (const { process } of cluster.nodes)
      await process.command('ACL', 'SETUSER', 'app', ...rules)
    const url = `redis-cluster://app:pw@127.0.0.1:${cluster.nodes[0]?.port}`
    const driver = redisDriver({ url, library })
    await driver.open({})
    onTestFinished(() => driver.close())
    await expect(driver.watch?.(() => {})).rejects.toThrow(/NOPERM .*ssubscribe.*grant it/)
  })

  test('keys that the user lacks are named', async () => {
    const url = await user('~other:*', '&*', '+@all')
    assert.match(await problem(url), /No permissions|no permissions|may not use/i)
  })

  test('in a cluster, messages of a slot and the id of the node are needed', async () => {
    const cluster = await startCluster({ replicas: 0 })
    onTestFinished(() => cluster.dispose())
    for (const { process } of cluster.nodes) {
      const rules = ['~*', '&*', '+@all', '-@admin', '-@dangerous', '-spublish']
      await process.command('ACL', 'SETUSER', 'app', 'on', '>pw', ...rules)
    }
    const [node] = cluster.nodes
    const address = `127.0.0.1:${node?.port}`
    await checked(`redis-cluster://${address}`)
    await expect(checked(`redis-cluster://app:pw@${address}`)).rejects.toThrow('SPUBLISH')
  })
})
