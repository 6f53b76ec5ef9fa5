import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { type KeyInfo, SluiceError } from 'sluice'
import { expect, test } from 'vitest'
import { EventStream } from '../src/live/event-stream.ts'
import { LiveViews } from '../src/live/live-views.ts'
import { Watch, type WatchParts } from '../src/live/watch.ts'
import { KeyHistories } from '../src/views/key-history.ts'
import type { Overview } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'

function partsOf(change: Partial<WatchParts>): WatchParts {
  return {
    ...{ clock: fakeClock(), tickMs: 1_000, nextId: () => 1, onIdle() {}, report() {} },
    ...change,
  }
}

function streamOf(watch: { leave(stream: EventStream): void }, mayRead = () => true): EventStream {
  const { signal } = new AbortController()
  return new EventStream({ signal, cutOff: undefined, mayRead }, (stream) => watch.leave(stream))
}

/** What a page that shows the watched view hears. */
function eventsOf<View extends { readonly at: number }>(watch: Watch<View>): EventReader {
  const stream = streamOf(watch)
  watch.join(stream, 0)
  return new EventReader(new Response(stream.body))
}

/** A read of a store that says nothing, given up by the driver after ten seconds. */
function silence(clock: FakeClock): Promise<never> {
  return new Promise((_, reject) => {
    clock.startTimer(10_000, () => reject(new SluiceError('ERR_STORE', 'no answer')))
  })
}

test('a read that takes too long counts as an unreachable store', async () => {
  const clock = fakeClock()
  // real time: sockets and disks know no other.
  const watch = new Watch(
    () => new Promise<{ at: number }>(() => {}),
    partsOf({ clock, readMsMax: 20 }),
  )
  const events = eventsOf(watch)
  await clock.step(0)
  const event = await events.next()
  expect(event).toMatchObject({ event: 'trouble', data: { code: 'ERR_TIMEOUT', sinceMs: 0 } })
  watch.close()
})

test('a store that was silent until its reads were given up is tried again within ten seconds', async () => {
  const clock = fakeClock()
  let reads = 0
  const watch = new Watch(async () => {
    reads += 1
    if (reads === 2) return { at: reads }
    return await silence(clock)
  }, partsOf({ clock }))
  const events = eventsOf(watch)
  await clock.step(0)
  await clock.step(10_000)
  expect((await events.next())?.event).toBe('trouble')
  await clock.step(10_000)
  expect(reads).toBeGreaterThan(1)
  expect((await events.nextBut('ping'))?.event).toBe('snapshot')
  watch.close()
})

test.each([
  ['has failed since, is tried again within ten seconds', true, 2],
  ['goes on, has the rest of a read that took as long', false, 1],
] as const)('a store with a read that was given up, and %s', async (_, fails, expected) => {
  const clock = fakeClock()
  const first = Promise.withResolvers<{ at: number }>()
  let reads = 0
  const watch = new Watch(
    async () => {
      reads += 1
      return reads === 1 ? await first.promise : { at: reads }
    },
    // real time: sockets and disks know no other.
    partsOf({ clock, readMsMax: 200 }),
  )
  const events = eventsOf(watch)
  await clock.step(0)
  await clock.step(10_000)
  expect((await events.next())?.event).toBe('trouble')
  if (fails) first.reject(new SluiceError('ERR_STORE', 'no answer'))
  await clock.step(10_000)
  expect(reads).toBeGreaterThanOrEqual(expected)
  if (!fails) {
    await clock.step(70_000)
    expect(reads).toBe(expected)
  }
  watch.close()
})

test('while the store is silent, a stream that breaks its silence says that, and no ping that all is well', async () => {
  const clock = fakeClock()
  let reads = 0
  const watch = new Watch(async () => {
    reads += 1
    if (reads === 1) return { at: 1 }
    return await silence(clock)
  }, partsOf({ clock }))
  const events = eventsOf(watch)
  await clock.step(0)
  expect((await events.next())?.event).toBe('snapshot')
  for (let second = 0; second < 100; second += 1) await clock.step(1_000)
  watch.close()
  const sinceMs: number[] = []
  for (let read = await events.next(); read !== undefined; read = await events.next()) {
    expect(read.event).toBe('trouble')
    sinceMs.push(read.data.sinceMs as number)
  }
  const gaps = sinceMs.map((ms, at) => ms - (sinceMs[at - 1] ?? 0))
  expect(Math.max(...gaps)).toBe(15_000)
})

test('a reader that comes while the store is away gets the last view, and why there is no newer one', async () => {
  const clock = fakeClock()
  const reported: unknown[] = []
  let isAway = false
  const watch = new Watch(
    async () => {
      if (isAway) throw new SluiceError('ERR_STORE', 'no answer')
      return { at: 1 }
    },
    partsOf({ clock, report: (error) => reported.push(error) }),
  )
  const first = eventsOf(watch)
  await clock.step(0)
  expect((await first.next())?.event).toBe('snapshot')
  isAway = true
  for (let second = 0; second < 60; second += 1) await clock.step(1_000)
  const events = eventsOf(watch)
  expect(await events.next()).toMatchObject({ event: 'snapshot', data: { at: 1 } })
  const data = { code: 'ERR_STORE', sinceMs: 59_000 }
  expect(await events.next()).toMatchObject({ event: 'trouble', data })
  // Its readers know.
  expect(reported).toEqual([])
  watch.close()
})

test('a reader that is slow now and then is not taken for one that has stopped reading', async () => {
  const { signal } = new AbortController()
  const stream = new EventStream({ signal, cutOff: undefined, mayRead: () => true }, () => {})
  const reader = stream.body.getReader()
  const bytes = new Uint8Array(300 * 1024)
  for (const at of [0, 20_000, 40_000]) {
    expect([stream.send(bytes, at), stream.send(bytes, at + 1)]).toEqual([true, false])
    if (at < 40_000) await reader.read()
  }
  stream.send(bytes, 70_000)
  expect(stream.isEnded).toBe(false)
  stream.send(bytes, 70_001)
  expect(stream.isEnded).toBe(true)
})

test('concurrent callers share one read', async () => {
  let looks = 0
  const watch = new Watch(async () => {
    looks += 1
    return { at: looks }
  }, partsOf({}))
  expect(await Promise.all([watch.view(), watch.view(), watch.view()])).toEqual([
    ...[{ at: 1 }, { at: 1 }, { at: 1 }],
  ])
  expect(await watch.view()).toEqual({ at: 2 })
})

test('a view that takes long is kept for a while, but not across an action', async () => {
  const clock = fakeClock()
  let looks = 0
  const watch = new Watch(async () => {
    await clock.step(100)
    looks += 1
    return { at: looks }
  }, partsOf({ clock }))
  expect([await watch.view(), await watch.view()]).toEqual([{ at: 1 }, { at: 1 }])
  watch.announce({ action: 'park' })
  expect(await watch.view()).toEqual({ at: 2 })
})

test.each([true, false])(
  'a view that was being read during an action is given to nobody who asks after it, while it is read: %s',
  async (isEarly) => {
    const clock = fakeClock()
    const first = Promise.withResolvers<void>()
    let reads = 0
    const watch = new Watch(async () => {
      reads += 1
      const at = reads
      if (at === 1) await first.promise
      return { at }
    }, partsOf({ clock }))
    const before = watch.view()
    await clock.step(100)
    watch.announce({ action: 'park' })
    const early = isEarly ? watch.view() : undefined
    first.resolve()
    expect(await before).toEqual({ at: 1 })
    expect(await (early ?? watch.view())).toEqual({ at: 2 })
  },
)

test('after an action during a read, the readers of a stream get the next view at once', async () => {
  const clock = fakeClock()
  const answers: ((view: { at: number; line: number }) => void)[] = []
  const watch = new Watch(
    () => new Promise<{ at: number; line: number }>((resolve) => answers.push(resolve)),
    partsOf({ clock }),
  )
  const stream = streamOf(watch)
  const events = new EventReader(new Response(stream.body))
  watch.join(stream, 0)
  await clock.step(0)
  answers[0]?.({ at: 1, line: 1 })
  expect((await events.next())?.event).toBe('snapshot')
  await clock.step(1_000)
  watch.announce({ action: 'park' })
  expect((await events.next())?.event).toBe('audit')
  answers[1]?.({ at: 2, line: 2 })
  expect((await events.next())?.event).toBe('delta')
  await clock.step(0)
  expect(answers).toHaveLength(3)
  watch.close()
})

test('a reader that comes while a view is read does not let it be read, and sent, once more', async () => {
  const clock = fakeClock()
  let answer = (_: { at: number; line: number }): void => {}
  const watch = new Watch(
    () =>
      new Promise<{ at: number; line: number }>((resolve) => {
        answer = resolve
      }),
    partsOf({ clock }),
  )
  const first = streamOf(watch)
  const events = new EventReader(new Response(first.body))
  watch.join(first, 0)
  await clock.step(0)
  watch.join(streamOf(watch), 0)
  await clock.step(0)
  answer({ at: 1, line: 1 })
  expect((await events.next())?.event).toBe('snapshot')
  await clock.step(1_000)
  answer({ at: 2, line: 2 })
  expect((await events.next())?.event).toBe('delta')
  watch.close()
})

test('a member that a view has no longer is named', async () => {
  const clock = fakeClock()
  const views = [
    { at: 1, line: 3 },
    { at: 2, line: undefined },
  ]
  const watch = new Watch(async () => views.shift() ?? { at: 3 }, partsOf({ clock }))
  const events = eventsOf(watch)
  await clock.step(0)
  expect((await events.next())?.event).toBe('snapshot')
  await clock.step(1_000)
  expect((await events.next())?.data).toEqual({ set: { at: 2 }, unset: ['line'] })
  watch.close()
})

test('a reader that comes after the last one has gone is not left in silence', async () => {
  const clock = fakeClock()
  const answers = [Promise.resolve({ at: 1 })]
  const watch = new Watch(
    () => answers.shift() ?? new Promise<{ at: number }>(() => {}),
    partsOf({ clock }),
  )
  const first = streamOf(watch)
  watch.join(first, 0)
  await clock.step(0)
  first.end()
  const second = streamOf(watch)
  watch.join(second, 0)
  const events = new EventReader(new Response(second.body))
  expect((await events.next())?.event).toBe('snapshot')
  await clock.step(15_000)
  expect((await events.next())?.event).toBe('ping')
  watch.close()
})

test.each([0, 1])(
  'a reader whose session has ended leaves nothing behind, from event %i on',
  async (lastId) => {
    const clock = fakeClock()
    const watch = new Watch(async () => ({ at: 1 }), partsOf({ clock }))
    const first = streamOf(watch)
    watch.join(first, 0)
    await clock.step(0)
    first.end()
    expect(clock.waiters()).toBe(0)
    watch.join(
      streamOf(watch, () => false),
      lastId,
    )
    if (lastId === 1) await clock.step(60_000)
    expect([watch.size, clock.waiters()]).toEqual([0, 0])
  },
)

test('of the views that nobody reads, the 200 that were used last are kept', async () => {
  const clock = fakeClock()
  const views = new LiveViews({
    ...{ clock, tickMs: 1_000, streamsMax: 9, report() {} },
    readerOf: () => async () => ({ at: 1 }) as Overview,
  })
  const connection = {
    signal: new AbortController().signal,
    cutOff: undefined,
    mayRead: () => true,
  }
  const read = views.open('overview', undefined, '', 0, connection)
  for (let queue = 0; queue < 300; queue += 1) await views.view('queue', String(queue), '')
  // A view without a reader has a timer, until which it is kept.
  expect(clock.waiters()).toBeLessThanOrEqual(201)
  expect([views.size, read.isEnded]).toEqual([1, false])
  views.close()
  expect(clock.waiters()).toBe(0)
})

test('a view that is opened by a reader who has left already is kept no longer than another', async () => {
  const clock = fakeClock()
  const views = new LiveViews({
    ...{ clock, tickMs: 1_000, streamsMax: 9, report() {} },
    readerOf: () => async () => ({ at: 1 }) as Overview,
  })
  const connection = { signal: AbortSignal.abort(), cutOff: undefined, mayRead: () => true }
  const stream = views.open('overview', undefined, '', 0, connection)
  expect([stream.isEnded, views.size]).toEqual([true, 0])
  // Its timer, after which it is not kept.
  expect(clock.waiters()).toBe(1)
  views.close()
  expect(clock.waiters()).toBe(0)
})

test('the histories of the 500 keys that were shown last are kept', () => {
  const histories = new KeyHistories()
  const stepsOf = (key: string, token: number) =>
    histories
      .record(
        'q',
        key,
        { key, state: 'processing', failures: 0, held: { token } } as KeyInfo,
        undefined,
        token,
      )
      .steps.map(({ at }) => at)
  for (const key of ['a', 'b']) stepsOf(key, 1)
  for (let other = 0; other < 498; other += 1) stepsOf(`other/${other}`, 1)
  expect(stepsOf('a', 2)).toEqual([2])
  stepsOf('one more', 1)
  expect([stepsOf('a', 3), stepsOf('b', 2)]).toEqual([[2, 3], []])
})

test('of a key the last 50 steps and 10 errors are kept, whatever happens to it', () => {
  const histories = new KeyHistories()
  const read = (failures: number, at: number) => {
    const info = { key: 'a', state: 'ready', failures } as KeyInfo
    const error = failures === 0 ? undefined : { name: 'Error', message: `no ${failures}` }
    return histories.record('q', 'a', info, error, at)
  }
  for (let at = 0; at <= 60; at += 1) read(at, at)
  const { steps, errors } = read(0, 61)
  expect(steps.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, index) => index + 12))
  expect(steps.at(-1)?.note).toBe('failures cleared')
  expect(errors.map(({ message }) => message)).toEqual(
    Array.from({ length: 10 }, (_, index) => `no ${60 - index}`),
  )
})
