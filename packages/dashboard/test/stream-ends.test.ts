import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { QueueRow, SessionInfo } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'
import { kept, queueOf, Site, token } from './site.ts'
import { watch } from './streams.ts'

/** Lets a read end that yields to the event loop after every few queues. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 300; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}

/** No read is given up: one of many queues takes as long as a silent store where the machine is held up. */
function stopTimeouts(): void {
  // real time: none passes for timers; reads yield to the event loop, which goes on.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe('streams', () => {
  test('are limited in number; further ones are rejected with the reason', async () => {
    const site = kept(new Site({ streamsMax: 3 }))
    const readers: EventReader[] = []
    // A browser hides why a stream was refused, so the session says it.
    const whyNot = async () => (await site.ask<SessionInfo>('/api/session')).body.noStreamBecause
    for (let reader = 0; reader < 3; reader += 1) {
      expect(await whyNot()).toBeUndefined()
      readers.push(await watch(site, 'about=overview'))
    }
    const { status, headers, body } = await site.ask('/api/stream?about=overview')
    expect([status, headers.get('retry-after')]).toEqual([503, '10'])
    expect(body).toMatchObject({ code: 'ERR_TOO_MANY_STREAMS', message: await whyNot() })
    expect(await whyNot()).toMatch(/the limit of 3 open pages/)
    await readers[0]?.cancel()
    expect(await whyNot()).toBeUndefined()
    await watch(site, 'about=overview')
  })

  test('end when their reader goes away, however it does, and only once', async () => {
    const site = kept(new Site())
    const aborting = new AbortController()
    const response = await site.send('/api/stream?about=overview', { signal: aborting.signal })
    const events = new EventReader(response)
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    expect(site.assembled.live.size).toBe(1)
    aborting.abort()
    expect(await events.next()).toBeUndefined()
    await events.cancel()
    aborting.abort()
    expect(site.assembled.live.size).toBe(0)
    const gone = AbortSignal.abort()
    const late = await site.send('/api/stream?about=overview', { signal: gone })
    expect(await late.text()).toBe('')
    expect(site.assembled.live.size).toBe(0)
  })

  test('end with the dashboard, however many views it has', async () => {
    const site = kept(new Site({ streamsMax: 300 }))
    for (let key = 0; key < 201; key += 1) {
      await watch(site, `about=key&queue=q&key=${key}`)
    }
    expect(site.assembled.live.size).toBe(201)
    await site.assembled.dashboard.close()
    expect(site.assembled.live.size).toBe(0)
  })

  test('are not opened for answers without a body', async () => {
    const site = kept(new Site())
    const { status } = await site.send('/api/stream?about=overview', { method: 'HEAD' })
    expect([status, site.assembled.live.size]).toEqual([405, 0])
  })

  test('end with the session that opened them', async () => {
    const site = kept(new Site({ auth: { token }, tickMs: 60_000 }))
    await site.signIn()
    const lasting = await watch(site, 'about=overview')
    await site.clock.step(60_000)
    await site.signIn()
    const leaving = await watch(site, 'about=overview')
    expect(site.assembled.live.size).toBe(2)
    await site.ask('/api/sign-out', { method: 'POST', body: {} })
    expect(site.assembled.live.size).toBe(1)
    expect(await leaving.nextBut('snapshot')).toBeUndefined()
    await site.clock.step(12 * 60 * 60 * 1_000 - 30_000)
    expect(site.assembled.live.size).toBe(0)
    expect(await lasting.nextBut('snapshot', 'ping')).toBeUndefined()
  })

  test('end when the application no longer trusts their visitor', async () => {
    const visitors: (string | undefined)[] = ['ann', 'bob', 'cem', 'dee']
    const asked = [0, 0, 0, 0]
    const trust = (request: Request): string | undefined | Promise<string> => {
      const index = Number(request.headers.get('cookie'))
      asked[index] = (asked[index] ?? 0) + 1
      if (visitors[index] === 'failing') throw new Error('the users cannot be read')
      if (visitors[index] === 'silent') return new Promise<never>(() => undefined)
      return visitors[index]
    }
    const site = kept(new Site({ auth: { trust } }))
    const streams = []
    for (const cookie of ['0', '1', '2', '3']) {
      streams.push(await watch(site, 'about=overview', { cookie }))
    }
    const pass = async (): Promise<void> => {
      for (let second = 0; second < 61; second += 1) await site.clock.step(1_000)
    }
    await pass()
    expect(site.assembled.live.size).toBe(4)
    // Not for every event: `trust` may read a database.
    expect(Math.max(...asked)).toBeLessThan(5)
    visitors[0] = undefined
    visitors[1] = 'eve'
    visitors[2] = 'failing'
    visitors[3] = 'silent'
    await pass()
    await pass()
    expect(site.assembled.live.size).toBe(0)
    for (const stream of streams) {
      expect(await stream.nextBut('snapshot', 'ping', 'delta')).toBeUndefined()
    }
  })

  test('end with the dashboard, which can be closed twice, and closes its store', async () => {
    const driver = memoryDriver()
    const close = driver.close.bind(driver)
    let closes = 0
    Object.assign(driver, {
      async close() {
        await manyTurns()
        await close()
        closes += 1
      },
    })
    const site = kept(new Site({ driver }))
    const events = await watch(site, 'about=overview')
    await site.ask('/api/overview')
    const [first, second] = [site.close(), site.close()]
    await first
    expect(closes).toBe(1)
    await second
    expect(closes).toBe(1)
    expect(await events.next()).toBeUndefined()
    expect((await site.ask('/api/stream?about=overview')).status).toBe(503)
    expect((await site.ask('/api/overview')).body).toMatchObject({ code: 'ERR_CLOSED' })
    expect(site.clock.waiters()).toBe(0)
  })

  test('of readers that stop reading are skipped, then closed, and nothing is buffered for them', async () => {
    stopTimeouts()
    const site = kept(new Site())
    const queues = Array.from({ length: 100 }, (_, at) => queueOf(site, `queue ${at}`))
    for (const queue of queues) await queue.add('a')
    const reading = await watch(site, 'about=overview')
    const lazy = await site.send('/api/stream?about=overview')
    await site.clock.step(0)
    expect((await reading.next())?.event).toBe('snapshot')
    // Each change sends a row of about half a kilobyte: more than may wait for a reader.
    let ticks = 0
    while (site.assembled.live.size === 2 && ticks < 10_000) {
      ticks += 1
      for (const queue of queues) await queue.add(`key ${ticks}`)
      await site.clock.step(1_000)
      await reading.next()
    }
    expect(ticks).toBeGreaterThan(30)
    expect(site.assembled.live.size).toBe(1)
    await expect(lazy.text()).rejects.toThrow('has stopped reading')
  })

  test('that were passed over go on with all of it once their reader reads', async () => {
    stopTimeouts()
    const site = kept(new Site({}, fakeClock(undefined, { settle: manyTurns })))
    const name = 'x'.repeat(100)
    const queues = Array.from({ length: 900 }, (_, at) => queueOf(site, `${name} ${at}`))
    for (const queue of queues) await queue.add('a')
    const slow = await watch(site, 'about=overview')
    // The snapshot alone is more than may wait.
    await site.clock.step(0)
    await queues[0]?.inspect.pause()
    await site.clock.step(1_000)
    await queues[1]?.inspect.pause()
    await site.clock.step(1_000)
    expect(site.assembled.live.size).toBe(1)
    const first = await slow.next()
    expect(first?.event).toBe('snapshot')
    await site.clock.step(1_000)
    const second = await slow.next()
    expect(second?.event).toBe('snapshot')
    const paused = second?.data.queues.filter((row: QueueRow) => row.counts.paused)
    expect(paused).toHaveLength(2)
    expect(Number(second?.id)).toBeGreaterThan(Number(first?.id))
  })
})
