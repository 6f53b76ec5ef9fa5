import { createRateLimitingQueue } from 'sluice'
import { describe, expect, test } from 'vitest'
import type { KeyView, QueueView } from '../src/wire.ts'
import { kept, queueOf, Site } from './site.ts'

describe('the page of a queue', () => {
  test('shows who holds its keys, and which worker has not been heard of', async () => {
    const site = kept(new Site())
    const { driver, clock } = site
    const queue = kept(
      createRateLimitingQueue<string>({ name: 'orders', driver, clock, leaseMs: 600_000 }),
    )
    const heartbeat = async (holder: string, concurrency: number) => {
      const worker = { holder, host: 'h', pid: 7, concurrency, settings: {} }
      await driver.tick('orders', { holder, limit: 1, failuresExpireMs: 60_000, worker })
    }
    // Opens the store, with the clock of the queue.
    await queue.len()
    const start = clock.now()
    await heartbeat('silent', 2)
    await heartbeat('stopped', 0)
    await clock.step(40_000)
    await heartbeat('live', 4)
    await queue.add('a')
    await (await queue.get())?.retry(new Error('no'))
    await clock.step(1_000)
    const held = await queue.get()
    await queue.add('a')
    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    const process = { host: 'h', pid: 7 }
    const shown = [...body.workerList].sort((a, b) => (a.holder < b.holder ? -1 : 1))
    expect(shown).toEqual([
      {
        ...{ ...process, holder: 'live', concurrency: 4, isGone: false },
        ...{ startedAt: start + 40_000, seenAt: start + 40_000 },
      },
      {
        ...process,
        holder: 'silent',
        concurrency: 2,
        isGone: true,
        startedAt: start,
        seenAt: start,
      },
      {
        ...process,
        holder: 'stopped',
        concurrency: 0,
        isGone: false,
        startedAt: start,
        seenAt: start,
      },
    ])
    expect(body.leases).toEqual([
      {
        ...{ key: 'a', isDirty: true, failures: 1, holder: expect.any(String) },
        leaseUntil: start + 41_000 + 600_000,
      },
    ])
    await held?.done()
  })
})

describe('the page of a key', () => {
  test('tells what has happened between two reads, and what the store has recorded', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const steps = async (): Promise<string[]> => {
      await site.clock.step(1_000)
      const { body } = await site.ask<KeyView>('/api/key?queue=orders&key=a')
      return body.steps.map(({ to, from, note }) => `${from} ${to}: ${note}`)
    }
    const last = async () => (await steps()).at(-1)
    expect(await steps()).toEqual([])
    await queue.add('a')
    expect(await steps()).toEqual(['row ready: added', 'seen ready: now ready'])
    const first = await queue.get()
    expect(await last()).toBe(`seen processing: claimed with token ${first?.token}`)
    await queue.add('a')
    expect((await steps()).slice(-2)).toEqual([
      'row dirty: added again while running',
      'seen dirty: now dirty',
    ])
    await first?.done()
    expect(await last()).toBe('seen ready: released')
    const second = await queue.get()
    expect(await last()).toBe(`seen processing: claimed with token ${second?.token}`)
    await second?.park(new Error('no'))
    expect((await steps()).slice(-2)).toEqual([
      'row parked: parked after failure 1',
      'seen parked: released, failed, failure 1',
    ])
    await queue.inspect.unpark('a')
    expect(await last()).toBe('seen ready: now ready')
    await queue.forget('a')
    expect(await last()).toBe('seen ready: failures cleared')
    await queue.inspect.park('a')
    expect(await steps()).toContain('row parked: parked')
    await queue.inspect.unpark('a')
    await steps()
    const third = await queue.get()
    await steps()
    await third?.done()
    expect(await last()).toBe('seen absent: done and deleted')
    await queue.addAfter('a', 60_000)
    expect(await steps()).toContain('row delayed: added')
    await queue.cancel('a')
    expect(await last()).toBe('seen absent: deleted')
  })
})
