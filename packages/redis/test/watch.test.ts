/** The messages that wake workers, on a server that is made up. */
import { systemEnvironment } from '@sluice/core/driver'
import { expect, test } from 'vitest'
import {
  ConnectionError,
  type Connections,
  type Subscription,
} from '../src/connection/connections.ts'
import { Layout } from '../src/rows/layout.ts'
import { StoreTime } from '../src/rows/store-time.ts'
import { Store } from '../src/store.ts'
import { Watch } from '../src/watch.ts'

/** A watch of a single server, and what it has subscribed. */
function stage() {
  const active = new Set<Subscription>()
  const server = { subscribing: Promise.resolve() }
  const connections = {
    isCluster: false,
    async subscribe(_, subscription) {
      await server.subscribing
      active.add(subscription)
      // As a server does, before the first message.
      subscription.onGap()
      return async () => void active.delete(subscription)
    },
  } as Partial<Connections> as Connections
  const store = new Store({
    connections,
    layout: new Layout({ prefix: 's:', oneSlot: false, isCluster: false }),
    time: new StoreTime(undefined, () => 0),
    environment: systemEnvironment,
    replicas: 0,
    confirmMs: 1_000,
  })
  const woken: (string | undefined)[] = []
  const onWake = (queue: string | undefined): void => void woken.push(queue)
  const send = (sender: string): void => {
    for (const { onMessage } of active) onMessage(`${sender} a queue`)
  }
  return { watch: new Watch(store), id: store.id, server, active, woken, onWake, send }
}

const refused = async (): Promise<void> => {
  throw new ConnectionError('refused', false)
}

test('messages of other processes wake a worker, and so does a gap in them', async () => {
  const { watch, id, active, woken, onWake, send } = stage()
  const unwatch = await watch.watch(onWake)
  await watch.use('a queue')
  expect([active.size, woken]).toEqual([1, []])
  send(id)
  send('another')
  expect(woken).toEqual(['a queue'])
  for (const { onGap } of active) onGap()
  expect(woken).toEqual(['a queue', undefined])
  await unwatch()
  await expect.poll(() => active.size).toBe(0)
})

test('the next claim subscribes where the watch could not', async () => {
  const { watch, server, active, onWake } = stage()
  server.subscribing = refused()
  await watch.watch(onWake)
  expect(active.size).toBe(0)
  server.subscribing = Promise.resolve()
  await watch.use('a queue')
  expect(active.size).toBe(1)
})

test('a subscription that fails after its watch has ended leaves that of the next watch', async () => {
  const { watch, server, active, woken, onWake, send } = stage()
  let fail: (error: unknown) => void = () => {}
  server.subscribing = new Promise((_, reject) => {
    fail = reject
  })
  const first = watch.watch(() => {})
  watch.stop()
  server.subscribing = Promise.resolve()
  const unwatch = await watch.watch(onWake)
  fail(new ConnectionError('the connection has ended', false))
  const unwatchFirst = await first
  await watch.use('a queue')
  send('another')
  expect([active.size, woken]).toEqual([1, ['a queue']])
  await Promise.all([unwatch(), unwatchFirst()])
  await expect.poll(() => active.size).toBe(0)
})
