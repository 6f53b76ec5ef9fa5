import { never } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis } from '@sluice/test-redis'
import { inspectStore, memoryDriver } from 'sluice'
import { moveQueues } from 'sluice/transfer'
import { describe, expect, test } from 'vitest'
import { postgresKind } from '../../support/stores/postgres-kind.ts'
import { redisKind } from '../../support/stores/redis-kind.ts'
import { type StoreKind, storeKinds } from '../../support/stores/store-kind.ts'
import { around } from '../../support/transfer/around.ts'
import {
  fill,
  keepOpen,
  queueName,
  queueOn,
  rowsOf,
  shifted,
  steppedStore,
} from '../../support/transfer/full-queue.ts'
import { move } from '../../support/transfer/move.ts'
import { PowerCut, withPowerCut } from '../../support/transfer/power-cut.ts'
import { turnOfEventLoop } from '../../support/transfer/turn-of-event-loop.ts'

const hour = 3_600_000

const redisKinds = hasRedis ? [redisKind()] : []
const kinds = [...storeKinds, postgresKind(), ...redisKinds]
const pairs = kinds.flatMap((from) => kinds.map((to) => ({ from, to })))

/** Those on which every step is interrupted: the others take the same steps. */
const interruptedPairs = pairs.filter(({ from, to }) => {
  const names = [from.name, to.name]
  return names.includes('sqlite') || !(names.includes('postgres') || names.includes('redis'))
})

async function setUp(
  { from: source, to: target }: { readonly from: StoreKind; readonly to: StoreKind },
  many?: number,
) {
  const clock = fakeClock(1_000_000_000)
  const from = source.make()
  const to = target.make()
  await keepOpen(from, clock)
  await keepOpen(to, clock)
  // Above what the target would give out by the time at which it was opened.
  const lastToken = (await fill(from, clock, many)) + 1e9
  await from.transfer?.raiseTokens(lastToken)
  return { clock, from, to, lastToken }
}

describe.each(pairs)('from $from.name to $to.name', (pair) => {
  test('everything comes along, in its place, and fencing numbers go on rising', async () => {
    const { clock, from, to, lastToken } = await setUp(pair)
    const before = await rowsOf(from)
    const buckets = await from.buckets?.()
    await move(clock, { from, to, clock })
    expect(await rowsOf(to)).toEqual(before)
    expect(await rowsOf(from)).toEqual([])
    expect(await to.buckets?.()).toEqual(buckets)
    const queue = queueOn(to, clock)
    const [first, second] = await queue.getMany(2)
    expect([first?.key, second?.key]).toEqual(['first', 'twice'])
    expect(first?.token).toBeGreaterThan(lastToken)
    await first?.release()
    await second?.release()
    await queue.close()
    expect(await from.counts(queueName, { cap: 1 })).toMatchObject({ paused: true })
  })

  test.each([
    ['the source', hour, 0],
    ['the target', 0, hour],
    ['each, by another amount,', hour, 60_000],
  ])('instants stay those of the wall clock if %s is ahead of it', async (_, ahead, ahead2) => {
    const [from, clock] = await steppedStore(pair.from, ahead)
    const [to] = await steppedStore(pair.to, ahead2)
    await fill(from, clock, 20)
    const before = await rowsOf(from)
    const buckets = (await from.buckets?.()) ?? []
    await move(clock, { from, to })
    expect(await rowsOf(to)).toEqual(before.map((row) => shifted(row, ahead2 - ahead)))
    expect(await rowsOf(from)).toEqual([])
    const moved = buckets.map((bucket) => ({ ...bucket, at: bucket.at + ahead2 - ahead }))
    expect(await to.buckets?.()).toEqual(moved)
  })

  test('held keys are awaited, and those whose holders vanished are ended', async () => {
    const { clock, from, to } = await setUp(pair)
    const holding = queueOn(from, clock)
    const kept = await holding.get()
    const vanished = await from.claim(queueName, {
      limit: 1,
      holder: 'gone',
      claimId: 'gone',
      leaseMs: 5_000,
    })
    let isMoved = false
    const moving = moveQueues({ from, to, clock }).then(() => {
      isMoved = true
    })
    await clock.step(6_000)
    expect(isMoved).toBe(false)
    await kept?.retry(new Error('late'))
    // What a server answers late is waited for from then on.
    while (!isMoved) await clock.step(1_000)
    await moving
    const rows = new Map((await rowsOf(to)).map((row) => [row.key, row]))
    expect(rows.get(kept?.key ?? '')).toMatchObject({ failures: 1 })
    const ended = rows.get(vanished.claims[0]?.key ?? '')
    expect(ended).toMatchObject({ failures: 1, crashes: 1 })
    expect(ended?.lastError).toContain('the worker vanished')
    await holding.close()
  })

  test('what was added at the other place already is merged', async () => {
    const { clock, from, to } = await setUp(pair)
    const queue = queueOn(to, clock)
    await queue.addAfter('later', 10_000)
    await queue.add('new')
    await move(clock, { from, to, clock })
    const rows = new Map((await rowsOf(to)).map((row) => [row.key, row]))
    const now = clock.now()
    expect(rows.get('later')).toMatchObject({
      dueAt: now + 10_000,
      laterAt: now + 60_000,
      priority: 4,
    })
    expect(rows.get('new')).toMatchObject({ state: 'ready' })
    await queue.close()
  })

  test('a migration that is ended leaves both sides paused, and can be gone on with', async () => {
    const { clock, from, to, lastToken } = await setUp(pair)
    const before = await rowsOf(from)
    const ending = new AbortController()
    const moving = moveQueues({
      from,
      to,
      clock,
      signal: ending.signal,
      onProgress: () => ending.abort(new Error('enough')),
    })
    await expect(moving).rejects.toThrow('enough')
    expect((await rowsOf(from)).length + (await rowsOf(to)).length).toBe(before.length)
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: true })
    // Workers that get its keys now have greater fencing numbers than the source has given out.
    expect(await to.transfer?.lastToken()).toBeGreaterThanOrEqual(lastToken)
    await move(clock, { from, to, clock })
    expect(await rowsOf(to)).toEqual(before)
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: false })
  })

  test('the rest of the process goes on between the pages of a long queue', async () => {
    const { clock, from, to } = await setUp(pair)
    const turns: ReturnType<typeof turnOfEventLoop>[] = []
    await move(clock, { from, to, clock, onProgress: () => turns.push(turnOfEventLoop()) })
    expect(turns.length).toBeGreaterThan(1)
    expect(turns.every((turn) => turn.hasPassed())).toBe(true)
  })

  test('a queue that was paused stays so, also if the migration was interrupted', async () => {
    const { clock, from, to } = await setUp(pair, 20)
    await from.operate?.pause(queueName)
    const ending = new AbortController()
    const options = { from, to, clock }
    await expect(
      moveQueues({
        ...options,
        signal: ending.signal,
        onProgress: () => ending.abort(new Error('enough')),
      }),
    ).rejects.toThrow('enough')
    await move(clock, options)
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: true })
    expect(await rowsOf(from)).toEqual([])
    expect(await rowsOf(to)).not.toEqual([])
  })

  test('a queue that is not to be resumed stays paused at its new place', async () => {
    const { clock, from, to } = await setUp(pair, 20)
    await move(clock, { from, to, clock, resume: false })
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ ready: 1, paused: true })
  })

  test('a queue that was paused at its new place stays so when the rest is moved later', async () => {
    const { clock, from, to } = await setUp(pair, 20)
    await move(clock, { from, to, clock })
    await to.operate?.pause(queueName)
    await move(clock, { from, to, clock })
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: true })
    await to.operate?.resume(queueName)
    await move(clock, { from, to, clock })
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: false })
  })

  test('a queue that is handed out at its new place goes on being so', async () => {
    const { clock, from, to } = await setUp(pair, 20)
    await move(clock, { from, to, clock })
    // Long after that, when nobody knows of the first migration any more.
    await clock.step(25 * 60 * 60 * 1_000)
    const late = queueOn(from, clock)
    await late.add('late')
    await move(clock, { from, to, clock })
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: false })
    expect((await rowsOf(to)).map(({ key }) => key)).toContain('late')
    await late.close()
  })

  test('a queue that was resumed at its old place is not taken for one that was paused', async () => {
    const { clock, from, to } = await setUp(pair, 20)
    await from.operate?.pause(queueName)
    await move(clock, { from, to, clock })
    await from.operate?.resume(queueName)
    await to.operate?.resume(queueName)
    await move(clock, { from, to, clock })
    expect(await to.counts(queueName, { cap: 1 })).toMatchObject({ paused: false })
  })
})

describe.each(interruptedPairs)('from $from.name to $to.name, where the power fails', (pair) => {
  test.each([
    ['before', false],
    ['after', true],
  ])(
    'interrupted %s any step and repeated, it loses nothing and doubles nothing',
    async (_, after) => {
      for (let step = 1; ; step += 1) {
        const { clock, from, to } = await setUp(pair, 20)
        const before = await rowsOf(from)
        const cut = new PowerCut(step, after)
        const isStruck = await moveQueues({
          from: withPowerCut(from, cut, 'from'),
          to: withPowerCut(to, cut, 'to'),
          clock,
        }).then(
          () => false,
          (error: unknown) => /power cut/.test(String(error)),
        )
        if (!isStruck) {
          expect(cut.steps).toContain('to.importRows')
          expect(cut.steps).toContain('from.dropRows')
          break
        }
        // The world goes on between the two attempts, on both sides.
        const options = { dedupe: 'client-go', failuresExpireMs: never } as const
        const ask = { item: undefined, priority: 0, delayMs: 0 }
        await from.add(queueName, [{ ...ask, key: 'added/from' }], options)
        await to.add(queueName, [{ ...ask, key: 'added/to' }], options)
        await move(clock, { from, to, clock })
        const where = `${after ? 'after' : 'before'} step ${step}: ${cut.steps.at(-1)}`
        const rows = await rowsOf(to)
        const added = rows.filter(({ key }) => key?.startsWith('added/')).map(({ key }) => key)
        expect(added, where).toEqual(['added/from', 'added/to'])
        expect(
          rows.filter(({ key }) => key?.startsWith('added/') !== true),
          where,
        ).toEqual(before)
        expect(await rowsOf(from), where).toEqual([])
        expect(await to.counts(queueName, { cap: 1 }), where).toMatchObject({ paused: false })
      }
    },
  )
})

test.each([
  ['before its first page is moved', 'list', 1],
  ['after its last page was moved', 'dropRows', 2],
])('fencing numbers stay above those of a source that is resumed %s', async (_, verb, at) => {
  const clock = fakeClock(1_000_000_000)
  const [from, to] = [memoryDriver(), memoryDriver()]
  await keepOpen(from, clock)
  await keepOpen(to, clock)
  await fill(from, clock, 1_100)
  let calls = 0
  let last = 0
  const resumed = around(from, verb, async () => {
    calls += 1
    if (calls !== at) return
    await from.operate?.resume(queueName)
    const queue = queueOn(from, clock)
    await queue.add('meanwhile')
    for (let runs = 0; runs < 50; runs += 1) {
      const held = await queue.get()
      last = Math.max(last, held?.token ?? 0)
      if (runs < 49) await held?.release()
      else await held?.done()
    }
    await queue.close()
  })
  const moving = moveQueues({ from: resumed, to, clock })
  await clock.step(1_000)
  await moving
  const queue = queueOn(to, clock)
  expect(last).toBeGreaterThan(0)
  expect((await queue.get())?.token).toBeGreaterThan(last)
  const closing = queue.close()
  await clock.step(1_000)
  await closing
})

test('a queue that was paused stays so in another store, too, to which the rest is moved later', async () => {
  const clock = fakeClock(1_000_000_000)
  const [from, first, second] = [memoryDriver(), memoryDriver(), memoryDriver()]
  for (const driver of [from, first, second]) await keepOpen(driver, clock)
  await fill(from, clock, 20)
  await from.operate?.pause(queueName)
  await moveQueues({ from, to: first, clock })
  const late = queueOn(from, clock)
  await late.add('late')
  await late.close()
  await moveQueues({ from, to: second, clock })
  expect(await second.counts(queueName, { cap: 1 })).toMatchObject({ ready: 1, paused: true })
})

test('queues are moved in the order of their names', async () => {
  const from = memoryDriver()
  await using store = inspectStore(from)
  for (const name of ['b', 'c', 'a']) await store.add(name, { item: 'k' })
  const moved = await moveQueues({ from, to: memoryDriver() })
  expect(moved.map(({ queue }) => queue)).toEqual(['a', 'b', 'c'])
})

test('a source that cannot be closed does not keep the target open', async () => {
  const source = memoryDriver()
  const target = memoryDriver()
  let closed = 0
  const from = around(source, 'close', () => {
    throw new Error('the source cannot be closed')
  })
  const to = around(target, 'close', async () => {
    await new Promise(setImmediate)
    closed += 1
  })
  await expect(moveQueues({ from, to })).rejects.toThrow('the source cannot be closed')
  expect(closed).toBe(1)
})

test('a producer that keeps changing the keys does not keep the stores busy', async () => {
  const clock = fakeClock(1_000_000_000)
  const [from, to] = [memoryDriver(), memoryDriver()]
  await keepOpen(from, clock)
  await keepOpen(to, clock)
  const queue = queueOn(from, clock)
  await queue.add('a')
  let imports = 0
  let isProducing = true
  const busy = around(to, 'importRows', async () => {
    imports += 1
    if (isProducing && imports < 1_000) await queue.add('a', { priority: imports % 1_000 })
  })
  const moving = moveQueues({ from, to: busy, clock })
  await clock.step(1_000)
  expect(imports).toBeGreaterThan(2)
  expect(imports).toBeLessThan(8)
  isProducing = false
  await clock.step(1_000)
  expect(await moving).toEqual([{ queue: queueName, moved: 1 }])
  await queue.close()
})
