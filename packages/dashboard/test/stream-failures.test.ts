import { type Driver, type SluiceEvent, sluiceChannel } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { SluiceError } from 'sluice'
import { describe, expect, test } from 'vitest'
import { actingSite, kept, queueOf, Site } from './site.ts'
import { watch } from './streams.ts'

/** A store that fails with a given error. */
function failing(): { driver: Driver; fail: { with: unknown } } {
  const fail: { with: unknown } = { with: undefined }
  const inner = memoryDriver()
  const failingVerbs: ProxyHandler<object> = {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (name === 'operate') return new Proxy(value as object, failingVerbs)
      if (typeof value !== 'function') return value
      if (name === 'close') return value.bind(target)
      return (...args: unknown[]) => {
        if (fail.with !== undefined) throw fail.with
        return value.apply(target, args)
      }
    },
  }
  const driver = new Proxy<Driver>(inner, failingVerbs)
  return { driver, fail }
}

/** The error of an unreachable store, with a password in it. */
export const gone = new SluiceError('ERR_STORE', 'cannot reach postgres://joe:hush@db/x: refused', {
  retryable: true,
})

describe('a store that cannot be reached', () => {
  test.each([
    [
      'cannot reach postgres://joe:hu@sh@db/x: refused',
      'cannot reach postgres://joe:***@db/x: refused',
    ],
    ['cannot use host=db password=hush user=joe', 'cannot use host=db password=*** user=joe'],
    ['cannot use host=db;Pwd=hush', 'cannot use host=db;Pwd=***'],
  ])('is reported without the password of %s', async (message, shown) => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    await site.ask('/api/overview')
    fail.with = new SluiceError('ERR_STORE', message)
    const { body } = await site.ask('/api/overview')
    expect(body['message']).toBe(`${shown} [ERR_STORE]`)
  })

  test('is reported with its code and its beginning, retried, and shown again when it is back', async () => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    fail.with = gone
    const answer = await site.ask('/api/overview')
    expect([answer.status, answer.body['code']]).toEqual([503, 'ERR_STORE'])
    expect(answer.text).not.toContain('hush')
    const told: number[] = []
    for (let second = 0; second < 60; second += 1) {
      await site.clock.step(1_000)
    }
    fail.with = undefined
    await queue.add('b')
    await site.clock.step(10_000)
    for (;;) {
      const event = await events.nextBut('ping')
      if (event?.event !== 'trouble') {
        expect(event).toMatchObject({ event: 'snapshot' })
        expect(event?.data.queues[0].counts.ready).toBe(2)
        break
      }
      expect(event.data).toMatchObject({
        code: 'ERR_STORE',
        message: expect.stringContaining('db/x'),
      })
      expect(event.data.message).not.toContain('hush')
      told.push(event.data.sinceMs)
    }
    // After 1, 2, 4, 8 seconds and then every 10.
    expect(told).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000, 45_000, 55_000])
    await queue.add('c')
    await site.clock.step(1_000)
    expect((await events.nextBut('ping'))?.event).toBe('delta')
  })

  test('is reported to new readers, with the last view', async () => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    await queueOf(site, 'orders').add('a')
    const first = await watch(site, 'about=overview')
    await site.clock.step(0)
    await first.next()
    fail.with = gone
    await site.clock.step(1_000)
    expect((await first.next())?.event).toBe('trouble')
    const second = await watch(site, 'about=overview')
    expect(await second.next()).toMatchObject({ event: 'snapshot', data: { queues: [{}] } })
    expect(await second.next()).toMatchObject({ event: 'trouble', data: { sinceMs: 0 } })
    const other = await watch(site, 'about=queue&queue=orders')
    await site.clock.step(0)
    expect((await other.next())?.event).toBe('trouble')
    fail.with = undefined
    await site.clock.step(10_000)
    expect((await other.nextBut('trouble'))?.event).toBe('snapshot')
  })

  test('by a mistake of ours is no reason to stop: it is reported, without its words', async () => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    const events = await watch(site, 'about=overview')
    fail.with = new Error('secret of the inside')
    await site.clock.step(0)
    const { event, data } = (await events.next()) ?? {}
    expect([event, data.code]).toEqual(['trouble', 'ERR_INTERNAL'])
    expect(JSON.stringify(data)).not.toContain('secret')
    expect(site.errors.length).toBeGreaterThan(0)
    fail.with = undefined
    await site.clock.step(10_000)
    expect((await events.nextBut('trouble'))?.event).toBe('snapshot')
  })
})

describe('an action', () => {
  test('is announced also if the store failed', async () => {
    const { driver, fail } = failing()
    const site = kept(await actingSite({ driver }))
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    await events.next()
    fail.with = gone
    const errors: unknown[] = []
    const end = ({ verb, error }: SluiceEvent): void => {
      if (verb === 'acted') errors.push(error)
    }
    const subscriber = { start() {}, asyncStart() {}, asyncEnd() {}, error() {}, end }
    sluiceChannel.subscribe(subscriber)
    const { status, text } = await site.act({ queue: 'orders', action: 'pause' })
    sluiceChannel.unsubscribe(subscriber)
    expect(errors).toEqual([expect.any(Error)])
    expect(status).toBe(503)
    expect(text).not.toContain('hush')
    const { event, data } = (await events.next()) ?? {}
    expect([event, data.action]).toEqual(['audit', 'pause'])
    expect(data.words).toMatch(/^It failed: cannot reach/)
    expect(data.words).not.toContain('hush')
    fail.with = undefined
  })

  test('is announced to every reader, and shown at once', async () => {
    const site = kept(await actingSite())
    await queueOf(site, 'orders').add('a')
    const overview = await watch(site, 'about=overview')
    const key = await watch(site, 'about=key&queue=orders&key=a')
    await site.clock.step(0)
    await overview.next()
    await key.next()
    await site.act({ queue: 'orders', action: 'park', key: 'a' })
    const audit = {
      event: 'audit',
      data: { queue: 'orders', action: 'park', words: 'a: The key was parked.' },
    }
    expect(await overview.next()).toMatchObject(audit)
    expect(await key.next()).toMatchObject(audit)
    await site.clock.step(0)
    expect(await overview.next()).toMatchObject({ event: 'delta' })
    expect(await key.next()).toMatchObject({ data: { set: { state: 'parked' } } })
  })
})
