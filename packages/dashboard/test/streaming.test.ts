import type { Driver } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { createWorker } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Overview } from '../src/wire.ts'
import type { EventReader } from './event-reader.ts'
import { kept, queueOf, Site } from './site.ts'
import { applied, watch } from './streams.ts'

/** How often each verb of a driver is called. */
function counted(inner: Driver): { driver: Driver; calls: Record<string, number> } {
  const calls: Record<string, number> = {}
  const driver = new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1
        return value.apply(target, args)
      }
    },
  })
  return { driver, calls }
}

describe('a stream', () => {
  test('begins with a snapshot, and continues with changes', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    const first = await events.next()
    expect(first).toMatchObject({ event: 'snapshot', id: expect.stringMatching(/^\d+$/) })
    expect(first?.data.queues).toMatchObject([{ queue: 'orders', severity: 'no workers' }])

    await queueOf(site, 'mails').add('b')
    await queue.inspect.pause()
    await site.clock.step(1_000)
    const second = await events.next()
    expect(second).toMatchObject({
      event: 'delta',
      data: {
        rows: { mails: { queue: 'mails' }, orders: { severity: 'paused' } },
        order: ['mails', 'orders'],
      },
    })
    expect(Number(second?.id)).toBeGreaterThan(Number(first?.id))
    const now = await site.ask<Overview>('/api/overview')
    expect(applied(first?.data, second?.data)).toEqual(now.body)

    await queue.inspect.purge()
    await queue.inspect.resume()
    await site.clock.step(1_000)
    expect(await events.next()).toMatchObject({ event: 'delta', data: { gone: ['orders'] } })
  })

  test('sends a ping for each tick without a change', async () => {
    const site = kept(new Site())
    await queueOf(site, 'orders').addAfter('a', 3_600_000)
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { data } = (await events.next()) ?? {}
    await site.clock.step(1_000)
    expect(await events.next()).toEqual({
      event: 'ping',
      id: undefined,
      data: { at: data.at + 1_000 },
    })
  })

  test('does not send a queue again because its oldest key grows older', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const worker = createWorker({
      queue,
      handler: (_item, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    })
    onTestFinished(() => worker.stop({ graceMs: 0 }))
    await queue.addMany(['running', 'waiting'])
    const events = await watch(site, 'about=overview')
    // The worker records a step of the history every 10 s.
    for (let second = 0; second < 125; second += 1) await site.clock.step(1_000)
    let view = (await events.next())?.data as Overview
    const { at: from } = view
    const sent: number[] = []
    let longAfterMs: number | undefined
    while (view.at < from + 120_000) {
      const { event, data } = (await events.next()) ?? {}
      if (event === 'ping') continue
      view = applied(view, data)
      if (data.rows !== undefined) sent.push(view.at - from)
      if (view.queues[0]?.severity === 'waiting long') longAfterMs ??= view.at - from
    }
    expect(longAfterMs).toBeGreaterThanOrEqual(59_000)
    expect(longAfterMs).toBeLessThanOrEqual(61_000)
    expect(view.queues[0]?.reason).toBe('A key has been ready for 2 min.')
    expect(sent.length).toBeLessThan(30)
    await events.cancel()
  })

  test('is never silent for more than 15 seconds, however slow the store is', async () => {
    const driver = memoryDriver()
    const site = kept(new Site({ driver, tickMs: 60_000 }))
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    for (let beats = 0; beats < 3; beats += 1) {
      await site.clock.step(15_000)
      expect((await events.next())?.event).toBe('ping')
    }
  })

  test('about a queue follows it, and about a key contains the observed steps', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const whole = await watch(site, 'about=queue&queue=orders')
    const one = await watch(site, 'about=key&queue=orders&key=a')
    await site.clock.step(0)
    expect(await whole.next()).toMatchObject({ event: 'snapshot', data: { counts: { ready: 1 } } })
    const first = await one.next()
    expect(first).toMatchObject({ event: 'snapshot', data: { state: 'ready', line: { key: 'a' } } })
    // Items are shown only to a visitor who asks for one.
    expect(first?.data.line).not.toHaveProperty('item')
    const held = await queue.get()
    await site.clock.step(1_000)
    expect(await whole.next()).toMatchObject({
      event: 'delta',
      data: {
        set: { counts: { ready: 0, processing: 1 }, leases: [{ key: 'a', isDirty: false }] },
      },
    })
    expect(await one.next()).toMatchObject({ data: { set: { state: 'processing' } } })
    await held?.retry(new Error('no'))
    await site.clock.step(1_000)
    const { data } = (await one.next()) ?? {}
    expect(data.set.errors).toMatchObject([{ message: 'no', at: expect.any(Number) }])
    // Observed, and recorded by the store: one step, with the time of the store.
    expect(data.set.steps.slice(-2)).toMatchObject([
      { from: 'row', to: 'backoff', note: 'failed, failure 1' },
      { from: 'row', to: 'ready', note: 'became due' },
    ])
    expect(await whole.next()).toMatchObject({ data: { set: { leases: [] } } })
  })

  test('about a queue or a key names it', async () => {
    const site = kept(new Site())
    for (const query of ['', 'about=keys', 'about=queue', 'about=key&key=a', 'about=key&queue=q']) {
      // Not read: a stream that begins does not end.
      const { status } = await site.send(`/api/stream?${query}`)
      expect(status, query).toBe(400)
    }
    expect(site.assembled.live.size).toBe(0)
  })

  test('about a queue called __proto__ is one like others', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, '__proto__')
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    await events.next()
    await queue.add('a')
    await site.clock.step(1_000)
    const { data } = (await events.next()) ?? {}
    expect(Object.keys(data.rows)).toEqual(['__proto__'])
  })
})

describe('reading', () => {
  test('is refused without the names it needs, and for ranges that there are not', async () => {
    const site = kept(new Site())
    for (const path of [
      ...['keys', 'queue', 'counts', 'matching', 'key?queue=q', 'key?key=a'],
      ...['overview?range=2h', 'queue?queue=q&range=', 'failures?range=1d'],
    ]) {
      const { status, body } = await site.ask(`/api/${path}`)
      expect([status, body['code']], path).toEqual([400, 'ERR_INVALID_INPUT'])
    }
    for (const range of ['5m', '1h', '24h']) {
      expect((await site.ask(`/api/overview?range=${range}`)).status, range).toBe(200)
    }
    expect((await site.ask('/api/keys?queue=q&limit=200&failuresMin=&prefix=')).status).toBe(200)
  })

  test('happens once per tick for all readers, and not without readers', async () => {
    const { driver, calls } = counted(memoryDriver())
    const site = kept(new Site({ driver }))
    await queueOf(site, 'orders').add('a')
    const readers: EventReader[] = []
    for (let reader = 0; reader < 20; reader += 1) readers.push(await watch(site, 'about=overview'))
    await site.clock.step(0)
    const before = calls['counts'] ?? 0
    for (let tick = 0; tick < 5; tick += 1) await site.clock.step(1_000)
    expect((calls['counts'] ?? 0) - before).toBe(5)
    for (const reader of readers) await reader.cancel()
    const after = { ...calls }
    await site.clock.step(600_000)
    expect(calls).toEqual(after)
    expect(site.assembled.live.size).toBe(0)
  })

  test('takes no more than a tenth of the time', async () => {
    const site = kept(new Site())
    let looks = 0
    const { driver } = site
    const queues = driver.queues?.bind(driver)
    Object.assign(driver, {
      async queues() {
        looks += 1
        // The store takes 2 seconds, while time passes for everything else.
        await new Promise<void>((resolve) => {
          site.clock.startTimer(2_000, resolve)
        })
        return await queues?.()
      },
    })
    const events = await watch(site, 'about=overview')
    for (let second = 0; second < 100; second += 1) await site.clock.step(1_000)
    expect(looks).toBeGreaterThanOrEqual(5)
    expect(looks).toBeLessThanOrEqual(6)
    await events.cancel()
  })

  test('leaves no timer behind when the last reader has gone', async () => {
    const site = kept(new Site())
    const waiting = site.clock.waiters()
    const readers = [await watch(site, 'about=overview'), await watch(site, 'about=queue&queue=a')]
    await site.clock.step(2_500)
    for (const reader of readers) await reader.cancel()
    // The view is kept for a while, for readers that reconnect.
    await site.clock.step(30_000)
    expect(site.clock.waiters()).toBe(waiting)
  })
})
