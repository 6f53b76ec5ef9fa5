import { describe, expect, test } from 'vitest'
import { kept, queueOf, Site } from './site.ts'
import { applied, watch } from './streams.ts'

describe('a reader that reconnects', () => {
  test('gets what it missed, and nothing twice', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const staying = await watch(site, 'about=overview')
    const leaving = await watch(site, 'about=overview')
    await site.clock.step(0)
    await staying.next()
    const { id = '' } = (await leaving.next()) ?? {}
    await leaving.cancel()
    const sent: unknown[] = []
    for (const key of ['a', 'b', 'c']) {
      await queue.add(key)
      await site.clock.step(1_000)
      sent.push(await staying.next())
    }
    const back = await watch(site, 'about=overview', { 'last-event-id': id })
    expect([await back.next(), await back.next(), await back.next()]).toEqual(sent)
    await queue.add('d')
    await site.clock.step(1_000)
    expect(await back.next()).toEqual(await staying.next())
  })

  test('continues where it was if there were no other readers meanwhile', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const first = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { id = '', data } = (await first.next()) ?? {}
    await first.cancel()
    await queue.add('a')
    await site.clock.step(10_000)
    const back = await watch(site, 'about=overview', { 'last-event-id': id })
    await site.clock.step(0)
    const next = await back.next()
    expect(next).toMatchObject({
      event: 'delta',
      data: { rows: { orders: { counts: { ready: 1 } } } },
    })
    expect(applied(data, next?.data).queues).toHaveLength(1)
  })

  test('gets all of it again after a gap that cannot be filled', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const staying = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { id = '' } = (await staying.next()) ?? {}
    for (let key = 0; key < 210; key += 1) {
      await queue.add(`k${key}`)
      await site.clock.step(1_000)
      await staying.next()
    }
    for (const lastId of [id, '1', '-1', 'x', '', String(Number.MAX_SAFE_INTEGER)]) {
      const back = await watch(site, 'about=overview', { 'last-event-id': lastId })
      const event = await back.next()
      expect(event, lastId).toMatchObject({ event: 'snapshot' })
      expect(event?.data.queues[0].counts.ready).toBe(210)
      await back.cancel()
    }
  })

  test('from before a restart, or from another view, gets all of it', async () => {
    const site = kept(new Site())
    const one = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { id = '' } = (await one.next()) ?? {}
    const other = await watch(site, 'about=queue&queue=orders', { 'last-event-id': id })
    await site.clock.step(0)
    expect((await other.next())?.event).toBe('snapshot')
    await site.clock.step(1)
    const restarted = kept(new Site({}, site.clock))
    const again = await watch(restarted, 'about=overview', { 'last-event-id': id })
    await site.clock.step(0)
    const event = await again.next()
    expect(event?.event).toBe('snapshot')
    expect(Number(event?.id)).toBeGreaterThan(Number(id))
  })
})
