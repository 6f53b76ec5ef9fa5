import {
  type Claim,
  type ClaimReply,
  type DirectClaim,
  type Driver,
  type FinishOutcome,
  type FinishReply,
  type KeyRow,
  type ListReply,
  never,
  SluiceError,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { memoryDriver } from '../src/index.ts'
import { blankClaim } from './blank-claim.ts'
import { HandClock } from './hand-clock.ts'
import { claim, open, options } from './hand-driver.ts'

function add(driver: Driver, keys: readonly string[], priority = 0, queue = 'q'): void {
  void driver.add(
    queue,
    keys.map((key) => ({ key, item: undefined, priority, delayMs: 0 })),
    options,
  )
}

const keysOf = (claims: readonly Claim[]): string[] => claims.map(({ key }) => key)

test('refuses bad options, naming them', () => {
  const bad: [unknown, string][] = [
    [null, 'options'],
    [{ orders: {} }, 'orders'],
    [{ expectedKeys: -1 }, 'expectedKeys'],
    [{ expectedKeys: 1.5 }, 'expectedKeys'],
    [{ order: {} }, 'order.push'],
    [{ order: { push() {}, touch() {}, pop() {} } }, 'order.len'],
    [{ order: 7 }, 'order'],
  ]
  for (const [given, parameter] of bad) {
    expect(() => memoryDriver(given as object), parameter).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }),
    )
  }
  const driver = memoryDriver({ order: () => ({}) as never })
  void driver.open({})
  expect(() => driver.direct!('q')).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter: 'order.push' }),
  )
})

test('holds more keys than expectedKeys', () => {
  for (const expectedKeys of [0, 1, 100, 5_000]) {
    const driver = memoryDriver({ expectedKeys })
    void driver.open({ clock: fakeClock() })
    const keys = Array.from({ length: 10_000 }, (_, at) => `key-${at}`)
    for (let at = 0; at < keys.length; at += 1_000) add(driver, keys.slice(at, at + 1_000))
    expect(keysOf(claim(driver, 10_000))).toEqual(keys)
  }
})

test('tokens begin at the microseconds of the real clock, and rise across all queues', () => {
  const before = Date.now() * 1_000
  const { driver } = open(new HandClock(0))
  add(driver, ['a', 'b'])
  add(driver, ['a'], 0, 'other')
  const tokens = claim(driver, 1).map(({ token }) => token)
  const request = { limit: 1, leaseMs: never, holder: 'h', claimId: 'c' }
  tokens.push(...(driver.claim('other', request) as ClaimReply).claims.map(({ token }) => token))
  tokens.push(...claim(driver, 1).map(({ token }) => token))
  expect(tokens[0]).toBeGreaterThan(before)
  expect(Number.isSafeInteger(tokens[0])).toBe(true)
  expect(tokens).toEqual([tokens[0], tokens[0]! + 1, tokens[0]! + 2])
  void driver.close()
  void driver.open({})
  add(driver, ['c'])
  expect(claim(driver, 1)[0]!.token).toBeGreaterThan(tokens[2]!)
})

test('a claim that has ended says nothing of the next one of its key, nor ends it', () => {
  const driver = memoryDriver()
  void driver.open({ clock: fakeClock() })
  const direct = driver.direct!('q')
  const [first, second] = [blankClaim(), blankClaim()]
  for (const into of [first, second]) {
    direct.ask({ key: 'a', item: undefined, priority: 0, delayMs: 0, trace: 'trace' }, options)
    expect(direct.claim(into, 'h', never)).toBe(true)
    if (into === first) expect(direct.done(into.handle, into.token, false)).toBe('idle')
  }
  expect(second.handle).toBe(first.handle)
  expect(direct.readyAt!(first.handle, first.token)).toBe(never)
  expect(direct.trace!(first.handle, first.token)).toBeUndefined()
  expect(direct.trace!(second.handle, second.token)).toBe('trace')
  expect(direct.done(first.handle, first.token, false)).toBe('lost')
  expect(direct.done(second.handle, second.token, false)).toBe('idle')
  // The same of keys whose rows are plain.
  for (const into of [first, second]) {
    direct.add('b', undefined, 0, options)
    expect(direct.claim(into, 'h', never)).toBe(true)
    if (into === first) expect(direct.done(into.handle, into.token, false)).toBe('idle')
  }
  expect(direct.done(first.handle, first.token, false)).toBe('lost')
  expect(direct.done(second.handle, second.token, false)).toBe('idle')
})

test('keeps its keys while it is closed', () => {
  const { clock, driver } = open()
  add(driver, ['a', 'b'])
  const [held] = claim(driver, 1)
  void driver.close()
  void driver.open({ clock })
  expect(keysOf(claim(driver, 9))).toEqual(['b'])
  const finish = { as: 'done', key: 'a', token: held!.token, forget: false } as const
  expect(driver.finish('q', [finish], options)).toMatchObject([{ outcome: 'idle' }])
})

test('puts a hundred thousand released keys back in their old positions', () => {
  const { clock, driver } = open()
  const keys = Array.from({ length: 100_000 }, (_, at) => `key-${at}`)
  for (let at = 0; at < keys.length; at += 1_000) {
    add(driver, keys.slice(at, at + 1_000))
    clock.pass(1)
  }
  const claims: Claim[] = []
  while (claims.length < keys.length) claims.push(...claim(driver, 1_000))
  // The last ones first, so that each comes before everything that is there already.
  for (const { key, token } of claims.toReversed()) {
    void driver.finish('q', [{ as: 'release', key, token }], options)
  }
  add(driver, ['new'])
  const again: string[] = []
  while (again.length <= keys.length) again.push(...keysOf(claim(driver, 1_000)))
  expect(again).toEqual([...keys, 'new'])
})

test('takes a thousand priorities that rise one by one in their order', () => {
  const { driver } = open()
  for (let priority = -1_000; priority <= 1_000; priority += 1) {
    add(driver, [`low ${priority}`], priority)
  }
  for (let priority = -1_000; priority < 1_000; priority += 1) {
    add(driver, [`low ${priority}`], 1_000 - (priority + 1_000) / 2)
  }
  const rising = keysOf(claim(driver, 3_000))
  expect(rising.slice(0, 3)).toEqual(['low 1000', 'low -1000', 'low -999'])
  expect(rising).toHaveLength(2_001)
})

test('names the holder of a key that another one released just before', () => {
  const { driver } = open()
  const claimAs = (holder: string): Claim => {
    const request = { limit: 1, leaseMs: 1_000, holder, claimId: holder }
    return (driver.claim('q', request) as ClaimReply).claims[0] as Claim
  }
  add(driver, ['key'])
  const { token } = claimAs('first')
  const later = { key: 'another key', item: undefined, priority: 0, delayMs: 5 }
  void driver.add('q', [later], options)
  void driver.finish('q', [{ as: 'release', key: 'key', token }], options)
  claimAs('second')
  const { rows } = driver.list('q', { limit: 2 }) as ListReply
  expect(rows.map(({ holder }) => holder)).toEqual([undefined, 'second'])
})

test('names the holders of keys that are held at the same time without a lease', () => {
  const { driver } = open()
  add(driver, ['a', 'b', 'c'])
  const holders = ['first', 'second', 'first']
  for (const holder of holders) {
    void driver.claim('q', { limit: 1, leaseMs: never, holder, claimId: holder })
  }
  const { rows } = driver.list('q', { limit: 3 }) as ListReply
  expect(rows.map(({ holder }) => holder)).toEqual(holders)
})

test('counts a key that was added again, one with two runs and one with a lease', () => {
  const { driver } = open()
  add(driver, ['again', 'leased', 'held', 'twice'])
  const [again] = claim(driver, 1)
  claim(driver, 1, 1_000)
  claim(driver, 1)
  const delayed = { key: 'twice', item: undefined, priority: 0, delayMs: 50 }
  void driver.add('q', [delayed], options)
  add(driver, ['again'])
  const held = { ready: 1, processing: 2, dirty: 1 }
  expect(driver.counts('q', { cap: 10 })).toMatchObject(held)
  expect(driver.counts('q', { cap: 2 })).toMatchObject({ ...held, capped: false })
  expect(driver.counts('q', { cap: 1 })).toMatchObject({ processing: 1, dirty: 1, capped: true })
  const { key, token } = again!
  void driver.finish('q', [{ as: 'done', key, token, forget: false }], options)
  expect(driver.counts('q', { cap: 10 })).toMatchObject({ ready: 2, processing: 2, dirty: 0 })
})

test('lists in the order of bytes, page by page, with every filter', () => {
  const { driver } = open()
  const keys = ['b', 'a/2', 'a/1', 'ä', '\u{1f600}', '\uffee', 'B', '0', 'a/10', 'ab']
  add(driver, keys)
  const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  for (const limit of [1, 2, 3, 10, 11]) {
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const page = driver.list('q', { limit, cursor }) as ListReply
      expect(page.rows.length).toBeLessThanOrEqual(limit)
      listed.push(...page.rows.map(({ key }) => key))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(listed).toEqual(sorted)
  }
  const { rows } = driver.list('q', { limit: 10, prefix: 'a/', state: 'ready' }) as ListReply
  expect(rows.map(({ key }) => key)).toEqual(['a/1', 'a/10', 'a/2'])
})

test('lists the members of a key correctly, also in a row that another key had', () => {
  const { driver } = open()
  const ask = { item: '"i"', priority: 3, delayMs: 5, failed: true }
  void driver.add('q', [{ ...ask, key: 'a' }], options)
  void driver.operate!.runNow('q', ['a'])
  const [held] = claim(driver, 1, 1_000)
  const finish = { as: 'park', key: 'a', token: held!.token, error: 'boom' } as const
  void driver.finish('q', [finish], options)
  void driver.operate!.remove('q', ['a'])
  expect((driver.list('q', { limit: 9 }) as ListReply).rows).toEqual([])
  add(driver, ['b'])
  const { rows } = driver.list('q', { limit: 9 }) as ListReply
  const expected: Partial<KeyRow> = {
    key: 'b',
    item: undefined,
    lastError: undefined,
    holder: undefined,
    failures: 0,
    crashes: 0,
    priority: 0,
    why: 'add',
    laterAt: never,
    parked: false,
    leaseUntil: never,
  }
  expect(rows).toMatchObject([expected])
})

test('wakes once for what one step of the program does through batches', async () => {
  const { driver } = open()
  const woken: (string | undefined)[] = []
  const stop = driver.watch!((queue) => void woken.push(queue)) as () => void
  add(driver, ['a'])
  add(driver, ['b'])
  add(driver, ['c'], 0, 'other')
  expect(woken).toEqual([])
  await Promise.resolve()
  expect(woken).toEqual(['q', 'other'])
  stop()
  add(driver, ['d'])
  await Promise.resolve()
  expect(woken).toEqual(['q', 'other'])
})

test('calls no watcher after it was closed', async () => {
  const { driver } = open()
  const woken: (string | undefined)[] = []
  void driver.watch!((queue) => void woken.push(queue))
  void driver.close()
  add(driver, ['a'])
  await Promise.resolve()
  expect(woken).toEqual([])
})

test('a claim takes nothing when the next token would be above 2^53', () => {
  const { driver } = open()
  const queue = driver.direct!('q')
  void driver.transfer!.raiseTokens(Number.MAX_SAFE_INTEGER - 2)
  add(driver, ['a', 'b', 'c'])
  const last = claim(driver, 9).map(({ token }) => token)
  expect(last).toEqual([Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER])
  const refused = expect.objectContaining({ code: 'ERR_STORE' })
  expect(() => claim(driver, 1)).toThrow(refused)
  expect(() => queue.claim({} as DirectClaim, 'h', never)).toThrow(refused)
  expect(queue.ready()).toBe(1)
  void driver.transfer!.raiseTokens(2 ** 60)
  expect(() => claim(driver, 1)).toThrow(refused)
  expect(driver.counts('q', { cap: 9 })).toMatchObject({ ready: 1, processing: 2 })
})

test('an add through the direct queue uses the expiry of its own caller', () => {
  const { clock, driver } = open()
  const queue = driver.direct!('q')
  const ask = { key: 'a', item: undefined, priority: 0, delayMs: 0, failed: true }
  queue.ask(ask, options)
  const [held] = claim(driver, 1)
  const done = { as: 'done', key: 'a', token: held!.token, forget: false } as const
  void driver.finish('q', [done], options)
  clock.pass(100)
  queue.add('a', undefined, 0, { ...options, failuresExpireMs: 100 })
  expect(claim(driver, 1)).toMatchObject([{ failures: 0 }])
})

test('adds in the order of earlier ones are known to be no-ops, until one would change a key', () => {
  const direct = open().driver.direct!('q')
  const keys = ['a', 'b', 'c', 'd', 'e', 'f']
  const addAll = (): number => {
    const moot = keys.filter((key) => direct.isNoOp!(key, 0))
    for (const key of keys) if (!moot.includes(key)) direct.add(key, undefined, 0, options)
    return moot.length
  }
  expect([addAll(), addAll(), addAll(), addAll()]).toEqual([0, 0, 0, 6])
  expect(direct.isNoOp!('', 0), 'no key at all').toBe(false)
  addAll()
  expect(direct.isNoOp!('a', 1), 'a higher priority').toBe(false)
  addAll()
  expect(direct.add('a', '1', 0, options), 'an item is stored').toBe('unchanged')
  expect(addAll()).toBe(0)
})

test('an add is no no-op once the key is claimed', () => {
  const { driver } = open()
  const direct = driver.direct!('q')
  for (const key of ['a', 'b', 'a', 'b', 'a', 'b']) direct.add(key, undefined, 0, options)
  expect(direct.isNoOp!('a', 0)).toBe(true)
  claim(driver, 2)
  expect(direct.isNoOp!('b', 0)).toBe(false)
})

test('a forged token, a stale one and that of another key finish nothing', () => {
  const { driver } = open()
  add(driver, ['a', 'b', 'c'])
  const [a, b] = claim(driver, 2)
  const done = (key: string, token: number): FinishOutcome => {
    const finish = { as: 'done', key, token, forget: false } as const
    return (driver.finish('q', [finish], options) as FinishReply[])[0]!.outcome
  }
  for (const token of [0, -1, 1.5, b!.token, Number.NaN, a!.token + 2 ** 32]) {
    expect(done('a', token)).toBe('lost')
  }
  expect(done('c', 0)).toBe('lost')
  expect(done('nobody', a!.token)).toBe('lost')
  expect([done('a', a!.token), done('a', a!.token)]).toEqual(['idle', 'lost'])
})

test('errors of the driver are SluiceErrors', () => {
  try {
    memoryDriver({ expectedKeys: Number.NaN })
    expect.unreachable()
  } catch (error) {
    expect(SluiceError.is(error)).toBe(true)
  }
})
