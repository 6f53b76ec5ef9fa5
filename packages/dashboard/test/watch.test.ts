import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { EventStream } from '../src/live/event-stream.ts'
import { Watch, type WatchParts } from '../src/live/watch.ts'
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

test('a read that takes too long counts as an unreachable store', async () => {
  const clock = fakeClock()
  // real time: sockets and disks know no other.
  const watch = new Watch(
    () => new Promise<{ at: number }>(() => {}),
    partsOf({ clock, readMsMax: 20 }),
  )
  const stream = streamOf(watch)
  watch.join(stream, 0)
  const events = new EventReader(new Response(stream.body))
  await clock.step(0)
  const event = await events.next()
  expect(event).toMatchObject({ event: 'trouble', data: { code: 'ERR_TIMEOUT', sinceMs: 0 } })
  watch.close()
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

test('a reader whose session has ended leaves nothing behind', async () => {
  const clock = fakeClock()
  const watch = new Watch(async () => ({ at: 1 }), partsOf({ clock }))
  const first = streamOf(watch)
  watch.join(first, 0)
  await clock.step(0)
  first.end()
  expect(clock.waiters()).toBe(0)
  watch.join(
    streamOf(watch, () => false),
    1,
  )
  await clock.step(60_000)
  expect([watch.size, clock.waiters()]).toEqual([0, 0])
})
