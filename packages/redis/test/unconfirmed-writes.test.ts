/** Writes that replicas have not confirmed, on servers that are made up. */
import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import { type Finish, never, systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import {
  ConnectionError,
  type Connections,
  type Reply,
  ReplyError,
} from '../src/connection/connections.ts'
import { JournalKeeper } from '../src/journal-keeper.ts'
import { Layout } from '../src/rows/layout.ts'
import { StoreTime } from '../src/rows/store-time.ts'
import { type ScriptName, scripts } from '../src/scripts.ts'
import { Store } from '../src/store.ts'
import { claim } from '../src/verbs/claim.ts'
import { ask, askOptions } from './support/asks.ts'

const now = 1_000_000

/** A store with one replica, or one in a cluster. */
function fakeStore({ replicas = 0, isCluster = false } = {}) {
  const clock = fakeClock()
  const servers = {
    primary: 'p1~0',
    /** The id of the process, or '' where it may not be read. */
    runId: 'p1',
    /** Another primary that is known, as the one that a slot moves to. */
    other: '',
    replicas: 1,
    /** How many replicas the primary has when it is asked. */
    found: 1,
    floor: null as string | null,
    /** By which driver the queue was created now. */
    creator: '',
    /** Whether the registry refuses names. */
    refusesNames: false,
    /** Whether a claim finds a key. */
    isDue: true,
    /** Why nothing is confirmed. */
    cause: undefined as unknown,
  }
  const sent: (readonly string[])[] = []
  const barriers: (readonly [replicas: number, withinMs: number])[] = []
  const watchers = new Set<() => void>()
  const reply = ([name = '', second = '']: readonly string[]): Reply => {
    if (name === 'ZSCORE') return servers.floor
    if (name !== 'EVALSHA' && servers.refusesNames) throw new ReplyError('OOM command not allowed')
    if (name !== 'EVALSHA') return 1
    const head = [
      now,
      0,
      servers.primary.slice(0, 2),
      servers.creator && `${servers.creator}-${now}`,
      10,
    ]
    const claimed = servers.isDue ? ['a', null, 1] : []
    return second === scripts.claim.sha
      ? [...head, 0, '', [], 7, now, ...claimed]
      : [...head, 0, 0, 0]
  }
  const connections: Connections = {
    isCluster,
    replicas: 1,
    replicasOf: () => servers.replicas,
    async send(_, command) {
      const words = typeof command === 'function' ? command(servers.runId) : command
      sent.push(words)
      return words.includes('oneSlot') || words[1]?.includes("'oneSlot'") ? 'false' : reply(words)
    },
    sendToAll: async () => [],
    primaryOf: () => servers.primary,
    idOf: (start) => [servers.primary, servers.other].find((id) => id.startsWith(start)),
    watchPrimaries(onChange) {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    barrier: async () => ({
      async confirmed(count, withinMs) {
        barriers.push([count, withinMs])
        if (servers.cause !== undefined)
          throw new ConnectionError('not confirmed', true, servers.cause)
      },
    }),
    async progress() {
      servers.replicas = servers.found
      return { primary: servers.primary, following: servers.found, connected: servers.found }
    },
    subscribe: async () => async () => {},
    close: async () => {},
  }
  const store = new Store({
    connections,
    layout: new Layout({ prefix: 's:', oneSlot: false, isCluster }),
    time: new StoreTime(undefined, () => clock.monotonicMs()),
    environment: { ...systemEnvironment, clock },
    replicas,
    confirmMs: 20_000,
  })
  store.time.note(now, 0)
  const keeper = new JournalKeeper(store, { ...systemEnvironment, clock }, () => {})
  const written = { now, lastSeq: 5, by: 'p1' }
  return {
    ...{ store, keeper, clock, servers, sent, barriers, watchers },
    /** Notes an add that the process `by` has answered. */
    noteAdd(key: string, by = 'p1') {
      const replies = [{ outcome: 'added', dueAt: now, failures: 0 }] as const
      const added = { replies, written: { ...written, by } }
      keeper.noteAdds('q', [ask(key)], added, askOptions.dedupe)
    },
    /** Fills the journal of a queue with adds, the keys of which are numbers. */
    fill() {
      const item = 'x'.repeat(64_000)
      for (let key = 0; key < 525; key += 1) {
        const replies = [{ outcome: 'added', dueAt: now, failures: 0 }] as const
        const asks = [{ ...ask(String(key)), item }]
        keeper.noteAdds('q', asks, { replies, written }, askOptions.dedupe)
      }
    },
    noteFinish(finish: Finish, dueAt: number) {
      const replies = [{ outcome: 'delayed', dueAt, failures: 1 }] as const
      keeper.noteFinishes('q', [finish], { replies, written })
    },
    /** What was sent of a script. */
    runs: (name: ScriptName) => sent.filter(([, sha]) => sha === scripts[name].sha),
  }
}

test('an add is repeated on a new primary until replicas were asked after it, and again', async () => {
  const { keeper, servers, noteAdd, runs } = fakeStore()
  noteAdd('asked twice')
  await keeper.look()
  noteAdd('asked once')
  await keeper.look()
  servers.primary = 'p2~0'
  await keeper.look()
  const [repeated, ...others] = runs('import')
  expect(others).toEqual([])
  expect(repeated).toContain('asked once')
  expect(repeated).not.toContain('asked twice')
})

test('an add that the primary before has answered is repeated, though its answer came late', async () => {
  const { keeper, noteAdd, runs } = fakeStore()
  noteAdd('a', 'p0')
  await keeper.look()
  expect(runs('import')).toHaveLength(1)
})

test.for([
  { ms: 9_000, count: 1 },
  { ms: 12_000, count: 0 },
])('an add of $ms ms ago is repeated $count times without replicas', async ({ ms, count }) => {
  const { keeper, clock, servers, noteAdd, runs } = fakeStore()
  Object.assign(servers, { replicas: 0, found: 0 })
  noteAdd('a')
  await clock.step(ms)
  await keeper.look()
  servers.primary = 'p2~0'
  await keeper.look()
  expect(runs('import')).toHaveLength(count)
})

test('a retry that is repeated keeps the rest of its delay', async () => {
  const { store, keeper, servers, noteFinish, runs } = fakeStore()
  noteFinish({ as: 'retry', key: 'a', token: 7, delayMs: 60_000 }, now + 60_000)
  noteFinish({ as: 'retry', key: 'b', token: 8, delayMs: 0 }, never)
  store.time.note(now + 10_000, 0)
  servers.primary = 'p2~0'
  await keeper.look()
  const [repeated] = runs('finish')
  const ways = repeated?.filter((word) => word.startsWith('["t"')).map((way) => JSON.parse(way)[1])
  expect(ways).toEqual([50_000, 0])
})

test('a finish that was not answered is made again, also on the same primary', async () => {
  const { keeper, runs } = fakeStore()
  keeper.noteReleases('q', [{ as: 'done', key: 'a', token: 7, forget: false }], undefined)
  await keeper.look()
  await keeper.look()
  expect(runs('finish').map((words) => words.slice(-3))).toEqual([['a', '7', 'd']])
})

test('a close waits until the replicas have everything', async () => {
  const { keeper, barriers, noteAdd } = fakeStore()
  noteAdd('a')
  await keeper.close(300)
  expect(barriers).toEqual([[1, 300]])
  const single = fakeStore()
  Object.assign(single.servers, { replicas: 0, found: 0 })
  single.noteAdd('a')
  // No time passes meanwhile, so that a wait would not end.
  await single.keeper.close(300)
  expect(single.barriers).toEqual([])
})

test('a journal that is closed leaves no timer, and sees no other primary', async () => {
  const { keeper, clock, watchers, noteAdd } = fakeStore()
  noteAdd('a')
  noteAdd('b')
  expect([clock.waiters(), watchers.size]).toEqual([1, 1])
  await keeper.close(300)
  expect([clock.waiters(), watchers.size]).toEqual([0, 0])
})

test('a claim waits for replicas for a quarter of its lease', async () => {
  const { store, barriers, servers, runs } = fakeStore({ replicas: 1 })
  const request = { limit: 1, holder: 'h', claimId: '1', leaseMs: 8_000 }
  const take = async () => await claim(store, 'q', request, 1_000, () => {})
  expect((await take()).claims).toMatchObject([{ key: 'a', token: 7 }])
  expect(barriers).toEqual([[1, 2_000]])
  await claim(store, 'q', { ...request, leaseMs: 3_600_000 }, 1_000, () => {})
  expect(barriers.at(-1)).toEqual([1, 20_000])
  servers.cause = new Error('0 of 1 replicas have it')
  await assert.rejects(take, /did not confirm the claim in time/)
  expect(runs('finish')).toHaveLength(1)
})

test('what has written nothing waits for no replica', async () => {
  const { store, barriers, servers } = fakeStore({ replicas: 1 })
  servers.isDue = false
  const request = { limit: 1, holder: 'h', claimId: '1', leaseMs: 8_000 }
  expect((await claim(store, 'q', request, 1_000, () => {})).claims).toEqual([])
  await store.run('counts', 'q', [])
  await store.run('tick', 'q', [])
  expect(barriers).toEqual([])
})

test('an add that fewer replicas confirmed than there are is repeated on a new primary', async () => {
  const { keeper, servers, noteAdd, runs } = fakeStore({ replicas: 1 })
  servers.replicas = 2
  noteAdd('a')
  servers.primary = 'p2~0'
  await keeper.look()
  expect(runs('import')).toHaveLength(1)
})

test('a new queue of a cluster begins above the tokens of the stores that it was moved from', async () => {
  const { store, servers, runs, barriers } = fakeStore({ isCluster: true })
  servers.floor = '70000'
  await store.run('add', 'q', ['client-go', '1000', '', '0', '0'])
  expect(runs('tokens').map((words) => words.at(-1))).toEqual(['70000'])
  barriers.length = 0
  // A floor that a failover lost would have tokens given out again.
  await store.raiseFloor('80000')
  expect(barriers).toEqual([[1, 20_000]])
})

test('a pause waits for a replica that came after the store was opened, and not where WAIT is withheld', async () => {
  const { store, servers, barriers } = fakeStore()
  servers.replicas = 0
  await store.run('pause', 'q', ['1'])
  expect(barriers).toEqual([[1, 20_000]])
  servers.cause = new ReplyError("NOPERM this user has no permissions to run the 'wait' command")
  await store.run('pause', 'q', ['1'])
  servers.cause = new ReplyError('LOADING Redis is loading the dataset in memory')
  await expect(store.run('pause', 'q', ['1'])).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_OUTCOME',
  })
  servers.cause = new ReplyError("NOPERM this user has no permissions to run the 'wait' command")
  const durable = fakeStore({ replicas: 2 })
  await durable.store.run('pause', 'q', ['1'])
  expect(durable.barriers).toEqual([[2, 20_000]])
  durable.servers.cause = servers.cause
  const pausing = durable.store.run('pause', 'q', ['1'])
  await expect(pausing).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
})

test('a full journal makes room at once: without replicas it keeps the newer half', async () => {
  const { keeper, servers, runs, barriers, fill } = fakeStore()
  Object.assign(servers, { replicas: 0, found: 0 })
  fill()
  await keeper.makeRoom('q')
  expect(barriers).toEqual([])
  servers.primary = 'p2~0'
  await keeper.look()
  const repeated = runs('import').flatMap((words) => words.filter((word) => /^\d{1,3}$/.test(word)))
  expect(repeated).toContain('524')
  expect(repeated).not.toContain('123')
})

test('a full journal makes room at once: replicas are asked for everything in it', async () => {
  const { keeper, servers, barriers, runs, fill } = fakeStore()
  fill()
  await keeper.makeRoom('q')
  expect(barriers).toEqual([[1, 10_000]])
  servers.primary = 'p2~0'
  await keeper.look()
  expect(runs('import')).toEqual([])
})

test('an add is refused while the replicas do not confirm what is in a full journal', async () => {
  const { keeper, servers, fill } = fakeStore()
  fill()
  servers.cause = new Error('0 of 1 replicas have it')
  await expect(keeper.makeRoom('q')).rejects.toMatchObject({
    code: 'ERR_STORE_BUSY',
    retryable: true,
    cause: { message: 'not confirmed' },
  })
})

test('an add that has created its queue is made, also where the name cannot be written', async () => {
  const { store, servers } = fakeStore()
  const add = () => store.run('add', 'q', ['client-go', '1000', '', '0', '0'])
  await add()
  Object.assign(servers, { creator: store.id, refusesNames: true })
  await add()
  // The next one writes it, before it makes the queue.
  await expect(add()).rejects.toThrow('OOM')
})

test('an add that the next primary of a slot has answered is not repeated on the one that it moves from', async () => {
  const { keeper, servers, noteAdd, runs } = fakeStore({ isCluster: true })
  servers.other = 'p2~0'
  noteAdd('a', 'p2')
  await keeper.look()
  expect(runs('import')).toEqual([])
  // The replica of the next one has taken its place, and need not have the add.
  servers.primary = 'p3~0'
  await keeper.look()
  expect(runs('import')).toHaveLength(1)
})

test('the outcome of a write that replicas have not confirmed stays unknown if it cannot be undone', async () => {
  const { store, servers } = fakeStore({ replicas: 1 })
  servers.cause = new Error('0 of 1 replicas have it')
  const undo = async (): Promise<SluiceError> => {
    throw new SluiceError('ERR_STORE', 'it was not sent')
  }
  const claiming = store.run('claim', 'q', [], { undo })
  await expect(claiming).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
})

test('where the run id may not be read, a node of a cluster says its own name', async () => {
  const processOf = async (isCluster: boolean, runId: string): Promise<string | undefined> => {
    const { store, servers, runs } = fakeStore({ isCluster })
    servers.runId = runId
    await store.run('claim', 'q', ['the first argument'])
    const [words = []] = runs('claim')
    return words[words.indexOf('the first argument') - 1]
  }
  expect(await processOf(true, 'p1')).toBe('p1')
  // Otherwise no failover would be noticed by the queue, and its tokens could be given out again.
  expect(await processOf(true, '')).toBe('cluster')
  expect(await processOf(false, '')).toBe('')
})

test('a queue that is in use writes its name again after an hour, so that it does not count as unused', async () => {
  const { store, clock, sent } = fakeStore()
  const add = async (): Promise<number> => {
    await store.run('add', 'q', ['client-go', '1000', '', '0', '0'])
    return sent.filter(([, text]) => text?.includes("'ZADD', KEYS[1]")).length
  }
  expect(await add()).toBe(1)
  await clock.step(3_599_000)
  expect(await add()).toBe(1)
  await clock.step(1_000)
  expect(await add()).toBe(2)
})
