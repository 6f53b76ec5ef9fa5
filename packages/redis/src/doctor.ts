/** Checks the health of a store, for operators. It only reads. */
import { SluiceError, type Finding as StoreFinding } from '@sluice/core'
import { manyWords } from '@sluice/core/words'
import { checkSlots, keepsQueues } from './connection/check-server.ts'
import type { Connections, Reply } from './connection/connections.ts'
import { storeError } from './connection/errors.ts'
import { openConnections } from './connection/open-connections.ts'
import { checkOptions, type RedisOptions } from './redis-options.ts'
import { unlessWithheld } from './replicas/replication.ts'
import { Layout } from './rows/layout.ts'
import { StoreTime } from './rows/store-time.ts'
import { Store } from './store.ts'
import { examine } from './verbs/examine.ts'
import { liveliness } from './verbs/queues.ts'

/** One check and its result. */
export type Finding = StoreFinding<
  | 'server'
  | 'memory'
  | 'disk'
  | 'replicas'
  | 'scripts'
  | 'clock'
  | 'integrity'
  | 'leases'
  | 'workers'
>

/** By how much the clocks may differ, in milliseconds. */
const clockMsMax = 1_000

/** The longest that a script should take, in microseconds: the server does nothing else meanwhile. */
const scriptMicrosMax = 20_000

/** How recently a worker must have been seen, in milliseconds. */
const workerMs = 60_000

/** Checks the store that the options name, and the servers that it is on. */
export async function doctor(options: RedisOptions): Promise<readonly Finding[]> {
  const settings = checkOptions(options)
  const { connection, timeoutMs, environment, prefix, oneSlot, isCluster } = settings
  const connections = await openConnections({ ...connection, timeoutMs, environment })
  try {
    const layout = new Layout({ prefix, oneSlot, isCluster })
    await checkSlots(connections, layout)
    const time = new StoreTime(undefined, () => environment.clock.monotonicMs())
    const use = { connections, layout, time, environment, replicas: 0, confirmMs: timeoutMs }
    const store = new Store(use)
    const infos = await infoOf(connections)
    return [
      serverFinding(infos),
      memoryFinding(infos),
      await diskFinding(connections, infos),
      await replicaFinding(connections, infos),
      await scriptFinding(connections),
      await clockFinding(connections, () => environment.clock.now()),
      ...(await integrityFindings(store)),
      ...(await queueFindings(store)),
    ]
  } catch (error) {
    throw storeError(error)
  } finally {
    await connections.close()
  }
}

type Info = ReadonlyMap<string, string>

/** `INFO` of each primary; empty where the user may not read it. */
async function infoOf(connections: Connections): Promise<readonly Info[]> {
  const texts = await readable(connections, ['INFO'])
  return texts.map(
    (text) =>
      new Map(
        String(text)
          .split(/\r?\n/)
          .map((line) => line.split(/:(.*)/s) as [string, string]),
      ),
  )
}

/** The reply of each primary; none if the user may not send the command. */
async function readable(
  connections: Connections,
  command: readonly string[],
): Promise<readonly Reply[]> {
  return (await connections.sendToAll(command).catch(unlessWithheld)) || []
}

async function settingOf(connections: Connections, name: string): Promise<readonly string[]> {
  const replies = await readable(connections, ['CONFIG', 'GET', name])
  return replies.map((reply) => String((reply as readonly Reply[])[1] ?? ''))
}

/** The version of a server. Valkey says next to its own the one of Redis that it is compatible with. */
function versionIn(info: Info): string {
  const valkey = info.get('valkey_version')
  return valkey === undefined ? (info.get('redis_version') ?? '') : `${valkey} of Valkey`
}

export function serverFinding(infos: readonly Info[]): Finding {
  const versions = [...new Set(infos.map(versionIn))]
  const facts = { primaries: infos.length, version: versions.join(', ') }
  if (infos.length === 0) {
    return unreadable('server', 'INFO is withheld: grant it, so that failovers are noticed exactly')
  }
  const summary =
    infos.length === 1
      ? `the primary runs version ${facts.version}`
      : `${infos.length} primaries run version ${facts.version}`
  return { check: 'server', level: 'ok', summary, facts }
}

function unreadable(check: Finding['check'], summary: string): Finding {
  return { check, level: 'warning', summary, facts: {} }
}

function memoryFinding(infos: readonly Info[]): Finding {
  const check = 'memory'
  const policies = [...new Set(infos.map((info) => info.get('maxmemory_policy') ?? ''))]
  const share = Math.max(
    0,
    ...infos.map((info) => {
      const most = Number(info.get('maxmemory') ?? 0)
      return most === 0 ? 0 : Number(info.get('used_memory') ?? 0) / most
    }),
  )
  const facts = { policy: policies.join(', '), share: Math.round(share * 1_000) / 1_000 }
  if (infos.length === 0)
    return unreadable(check, 'INFO is withheld: check maxmemory-policy yourself')
  if (!policies.every(keepsQueues)) {
    const summary = `a full server deletes keys, and with them queues: set maxmemory-policy noeviction, not ${facts.policy}`
    return { check, level: 'failure', summary, facts }
  }
  if (share > 0.9) {
    const summary = `${Math.round(share * 100)} % of maxmemory is used; adds are refused when it is full`
    return { check, level: 'warning', summary, facts }
  }
  return { check, level: 'ok', summary: 'a full server refuses adds and deletes no queue', facts }
}

async function diskFinding(connections: Connections, infos: readonly Info[]): Promise<Finding> {
  const check = 'disk'
  const names = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite']
  const [logs = [], syncs = [], pauses = []] = await Promise.all(
    names.map(async (name) => [...new Set(await settingOf(connections, name))]),
  )
  const failed = ['aof_last_write_status', 'rdb_last_bgsave_status'].filter((field) =>
    infos.some((info) => info.get(field) === 'err'),
  )
  const facts = {
    appendonly: logs.join(', '),
    appendfsync: syncs.join(', '),
    noSyncOnRewrite: pauses.join(', '),
  }
  if (failed.length > 0) {
    const summary = `the server could not write to its disk (${failed.join(', ')}), and may refuse changes until it can: look at its log`
    return { check, level: 'failure', summary, facts }
  }
  if (logs.length === 0) {
    return unreadable(check, 'CONFIG is withheld: check appendonly and appendfsync yourself')
  }
  const warning = (summary: string): Finding => ({ check, level: 'warning', summary, facts })
  if (logs.some((log) => log !== 'yes')) {
    return warning(
      'the server keeps no log of writes: a restart loses what came after its last snapshot; set appendonly yes',
    )
  }
  if (syncs.includes('no')) {
    return warning(
      'a power cut can lose the last half minute of writes (appendfsync no); set appendfsync everysec, or always',
    )
  }
  if (pauses.includes('yes')) {
    return warning(
      'writes are not synced while the log is rewritten or a snapshot is saved; set no-appendfsync-on-rewrite no',
    )
  }
  const summary = syncs.every((sync) => sync === 'always')
    ? 'every write is on the disk before the reply'
    : 'a power cut can lose the last second of writes (appendfsync everysec); processes that live on repeat theirs'
  return { check, level: 'ok', summary, facts }
}

async function replicaFinding(connections: Connections, infos: readonly Info[]): Promise<Finding> {
  const check = 'replicas'
  const { replicas } = connections
  if (infos.length === 0 && (await readable(connections, ['WAIT', '0', '0'])).length === 0) {
    return unreadable(
      check,
      'INFO and WAIT are withheld: replicas cannot be counted, or waited for',
    )
  }
  const wanted = await settingOf(connections, 'min-replicas-to-write')
  const [least] = wanted
  const facts = { replicas, minReplicasToWrite: least ?? null }
  // The server counts them only where it wants any.
  const isRefusing = infos.some((info, at) => {
    return Number(info.get('min_slaves_good_slaves') ?? Infinity) < Number(wanted[at] ?? 1)
  })
  if (isRefusing) {
    const summary =
      'a primary refuses changes, since fewer replicas follow it than min-replicas-to-write demands: bring them back, or lower it'
    return { check, level: 'failure', summary, facts }
  }
  if (replicas === 0) {
    const summary = 'there is no replica: queues stop while the server is away'
    return { check, level: 'ok', summary, facts }
  }
  if (!connections.isCluster && least === '0') {
    const summary = `${replicas} replicas, but a primary that is cut off from them still takes writes, which a failover then loses: set min-replicas-to-write 1`
    return { check, level: 'warning', summary, facts }
  }
  return { check, level: 'ok', summary: `${replicas} replicas of each primary`, facts }
}

async function scriptFinding(connections: Connections): Promise<Finding> {
  const check = 'scripts'
  const replies = await readable(connections, ['SLOWLOG', 'GET', '128'])
  if (replies.length === 0) {
    return unreadable(check, 'SLOWLOG is withheld: look for slow scripts yourself')
  }
  const slow = replies.flatMap((reply) =>
    (reply as readonly (readonly Reply[])[]).filter(([, , micros, args]) => {
      const [command] = args as readonly string[]
      return Number(micros) > scriptMicrosMax && /^EVAL/i.test(command ?? '')
    }),
  )
  const longest = Math.max(0, ...slow.map(([, , micros]) => Number(micros)))
  const facts = { slow: slow.length, longestMs: longest / 1_000 }
  if (slow.length === 0) {
    return { check, level: 'ok', summary: 'no slow script is in the slow log', facts }
  }
  const summary = `${slow.length} scripts in the slow log took more than 20 ms, the longest ${facts.longestMs} ms: the server did nothing else meanwhile; use smaller items or batches`
  return { check, level: 'warning', summary, facts }
}

async function clockFinding(connections: Connections, now: () => number): Promise<Finding> {
  const check = 'clock'
  const before = now()
  const replies = await connections.sendToAll(['TIME'])
  const after = now()
  const differences = replies.map((reply) => {
    const [seconds, micros] = reply as readonly string[]
    const theirs = Number(seconds) * 1_000 + Number(micros) / 1_000
    // The server read its clock between the question and the reply.
    return theirs < before ? theirs - before : Math.max(0, theirs - after)
  })
  const most = differences.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0)
  const facts = { differenceMs: Math.round(most) }
  if (Math.abs(most) <= clockMsMax) {
    return {
      check,
      level: 'ok',
      summary: 'the clocks of the servers agree with this machine',
      facts,
    }
  }
  const summary = `the clock of a server differs from this machine by ${facts.differenceMs} ms; after a failover, delays would end that much earlier or later`
  return { check, level: 'warning', summary, facts }
}

/** What is read of a queue; the error of one that cannot be read, which hides no other one. */
async function unlessUnreadable<T>(read: Promise<T>): Promise<T | SluiceError> {
  try {
    return await read
  } catch (error) {
    if (SluiceError.is(error, 'ERR_SCHEMA_NEWER')) return error
    if (SluiceError.is(error, 'ERR_STORE_DAMAGED')) return error
    throw error
  }
}

async function integrityFindings(store: Store): Promise<readonly Finding[]> {
  const check = 'integrity'
  const found = await store.ofEachQueue((queue) => unlessUnreadable(examine(store, queue)))
  const damaged = found.flatMap(([queue, problem]): readonly Finding[] => {
    if (problem === undefined) return []
    const isNewer = SluiceError.is(problem)
    const summary = isNewer ? problem.message : `queue ${queue} is damaged: ${problem}`
    return [{ check, level: 'failure', summary, facts: { queue } }]
  })
  if (damaged.length > 0) return damaged
  return [{ check, level: 'ok', summary: 'every row, set and item agrees', facts: {} }]
}

async function queueFindings(store: Store): Promise<readonly Finding[]> {
  const all = await store.ofEachQueue((name) => unlessUnreadable(liveliness(store, name, workerMs)))
  // The registry has empty queues, too, until they are deleted.
  const found = all.flatMap(([, one]) => (SluiceError.is(one) || !one.isThere ? [] : [one]))
  const late = found.reduce((sum, one) => sum + one.late, 0)
  const working = found.filter(({ workers }) => workers.length > 0).length
  return [
    late === 0
      ? { check: 'leases', level: 'ok', summary: 'no expired lease waits', facts: { late } }
      : {
          check: 'leases',
          level: 'warning',
          summary: `${manyWords(late, 'lease')} expired more than a minute ago, and no worker has reclaimed ${late === 1 ? 'it' : 'them'}`,
          facts: { late },
        },
    {
      check: 'workers',
      level: 'ok',
      summary: `${working} of ${found.length} queues have a worker`,
      facts: { queues: found.length, withWorkers: working },
    },
  ]
}
