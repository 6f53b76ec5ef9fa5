import { SluiceError } from '@sluice/core'
import { unlessWithheld } from '../replicas/replication.ts'
import type { Layout } from '../rows/layout.ts'
import { type Connections, type Reply, ReplyError } from './connections.ts'
import { storeError } from './errors.ts'

/** The requirements that are checked when a store is opened. */
export interface ServerCheck {
  /** The prefix of the names of the keys that the check writes and deletes. */
  readonly prefix: string
  /** Whether a server that may evict keys is accepted. */
  readonly acceptsEviction: boolean
}

/** Every command that a script of the driver uses, with arguments it can be tried with. */
const tried: readonly (readonly string[])[] = [
  ['HSET', 'hash', 'field', '1'],
  ['HSETNX', 'hash', 'field', '1'],
  ['HINCRBY', 'hash', 'field', '1'],
  ['HGET', 'hash', 'field'],
  ['HMGET', 'hash', 'field'],
  ['HGETALL', 'hash'],
  ['HLEN', 'hash'],
  ['HKEYS', 'hash'],
  ['HDEL', 'hash', 'field'],
  ['HSTRLEN', 'hash', 'field'],
  ['ZADD', 'set', '0', 'member'],
  ['ZCARD', 'set'],
  ['ZCOUNT', 'set', '0', '1'],
  ['ZRANGE', 'set', '0', '0'],
  ['ZRANGEBYLEX', 'set', '-', '+'],
  ['ZRANGEBYSCORE', 'set', '0', '1'],
  ['ZRANK', 'set', 'member'],
  ['ZSCORE', 'set', 'member'],
  ['ZREM', 'set', 'member'],
  ['ZREMRANGEBYRANK', 'set', '1', '0'],
  ['UNLINK', 'set'],
  ['TIME'],
]

/**
 * Tries commands, and replies with those that are denied and those that the server does not have. Nothing
 * is left of what they wrote.
 */
const script = `#!lua flags=allow-oom
local denied, unknown = {}, {}
for _, command in ipairs(cjson.decode(ARGV[1])) do
  local name = table.remove(command, 1)
  if command[1] == 'hash' then command[1] = KEYS[1] end
  if command[1] == 'set' then command[1] = KEYS[2] end
  local reply = redis.pcall(name, unpack(command))
  local problem = type(reply) == 'table' and reply.err or ''
  -- Redis 7.0 says the first, later ones and Valkey the second.
  if string.find(problem, 'The user executing the script can', 1, true)
    or string.find(problem, 'ACL failure in script', 1, true)
    or string.find(problem, 'NOPERM', 1, true) then
    denied[#denied + 1] = name
  elseif string.find(problem, 'Unknown .*command called from script') then
    unknown[#unknown + 1] = name
  end
end
redis.pcall('UNLINK', KEYS[1], KEYS[2])
return {denied, unknown}`

/**
 * Refuses a server that would break a promise: one that may evict keys, or denies its user a command in
 * the middle of a script, or does not have it. Rejects with a `SluiceError`.
 */
export async function checkServer(connections: Connections, check: ServerCheck): Promise<void> {
  try {
    await checkPermissions(connections, check)
    if (!check.acceptsEviction) await checkEviction(connections)
  } catch (error) {
    if (error instanceof ReplyError && error.message.includes('compiling script')) {
      const message =
        'this server is older than Redis 7.0, which queues need; use Redis 7 or Valkey'
      throw new SluiceError('ERR_STORE', message, { cause: error })
    }
    throw storeError(error)
  }
}

/** Refuses a store whose queues are in other slots than those of this layout. */
export async function checkSlots(connections: Connections, layout: Layout): Promise<void> {
  const { registry, slots } = layout
  layout.checkOneSlot(await connections.send(registry, ['HGET', slots, 'oneSlot']))
}

async function checkPermissions(connections: Connections, check: ServerCheck): Promise<void> {
  const tag = `${check.prefix}{probe}:`
  const publish = connections.isCluster
    ? [
        ['SPUBLISH', `${tag}wake`, ''],
        ['CLUSTER', 'MYID'],
      ]
    : [['PUBLISH', `${tag}wake`, '']]
  const commands = JSON.stringify([...tried, ...publish])
  const probe = ['EVAL', script, '2', `${tag}hash`, `${tag}set`, commands]
  // A server that refuses writes can be looked at. Each script checks the rights again.
  const replies = await connections.send(tag, probe).catch((error: unknown) => {
    if (error instanceof ReplyError && /^(NOREPLICAS|MISCONF)$/.test(error.code)) return []
    throw error
  })
  const [denied = [], unknown = []] = replies as readonly (readonly Reply[])[]
  if (unknown.length > 0) {
    throw new SluiceError(
      'ERR_STORE',
      `this Redis does not have ${unknown.join(', ')}, which queues need; remove the lines of its configuration that rename them (rename-command), or use another server`,
    )
  }
  const names = new Set(denied.map(String))
  if (names.size === 0) return
  const rules = [...names].map((name) => `+${name.toLowerCase()}`)
  const channels = names.has('PUBLISH') || names.has('SPUBLISH') ? ` &${check.prefix}*` : ''
  throw new SluiceError(
    'ERR_STORE',
    `the user of Redis may not use ${[...names].join(', ')}; grant them: ACL SETUSER <user> ${rules.join(' ')} ~${check.prefix}*${channels}`,
  )
}

/** Whether a full server deletes no key of a queue. No such key expires, and `volatile-` policies delete only keys that do. */
export function keepsQueues(policy: string): boolean {
  return policy === 'noeviction' || policy.startsWith('volatile-')
}

async function checkEviction(connections: Connections): Promise<void> {
  // Without the right to read it there is no proof; doctor says what to look at.
  const replies = await connections.sendToAll(['INFO', 'memory']).catch(unlessWithheld)
  for (const reply of replies) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(String(reply))?.[1]
    if (policy === undefined || keepsQueues(policy)) continue
    throw new SluiceError(
      'ERR_STORE',
      `this Redis deletes keys when its memory is full (maxmemory-policy ${policy}), so that acknowledged adds would be lost; set maxmemory-policy noeviction, or accept the loss with acceptsEviction: true`,
    )
  }
}
