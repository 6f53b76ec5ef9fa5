import type { TickRequest } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker, exponential } from '../../src/index.ts'
import { late, leasedSetups, Scene } from '../support/setups.ts'

describe('an idle worker', () => {
  /** A store that wakes every other user of it by each write, as a file does. */
  function neighbours(count: number): Scene[] {
    const first = new Scene(late)
    const scenes = [first]
    for (let at = 1; at < count; at += 1) scenes.push(new Scene(late, first.inner))
    const wakes = new Map<Scene, () => void>()
    for (const scene of scenes) {
      scene.late.watch = (onWake) => {
        wakes.set(scene, () => onWake(undefined))
        return Promise.resolve(() => undefined)
      }
      scene.late.after = ({ verb, request }) => {
        const writes = verb === 'tick' && (request as TickRequest).worker !== undefined
        if (!writes) return
        for (const [other, wake] of wakes) if (other !== scene) wake()
      }
    }
    return scenes
  }

  test.each([1, 2, 4])(
    'of %i processes on one file registers once in ten seconds',
    async (count) => {
      const scenes = neighbours(count)
      const workers = scenes.map((scene) =>
        createWorker({ queue: scene.queue(), handler: () => undefined }),
      )
      for (const scene of scenes) await scene.clock.step(1_000)
      for (const scene of scenes) scene.late.calls = []
      for (let s = 0; s < 60; s += 1) for (const scene of scenes) await scene.clock.step(1_000)
      for (const { late: driver } of scenes) {
        const ticks = driver.requests('tick') as TickRequest[]
        const registrations = ticks.filter(({ worker }) => worker !== undefined).length
        expect(registrations).toBeGreaterThanOrEqual(6)
        expect(registrations).toBeLessThanOrEqual(7)
        // Its own, and what each write of the others makes it look for: a claim and a question.
        expect(driver.calls.length).toBeLessThanOrEqual(7 + 2 * 7 * (count - 1))
      }
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  )

  test('says that its concurrency has changed at once', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const one = createWorker({ queue, concurrency: 2, handler: () => undefined })
    await scene.clock.step(1_000)
    const other = createWorker({ queue, concurrency: 3, handler: () => undefined })
    await scene.clock.step(1_000)
    await one.stop()
    await scene.quiet()
    const ticks = scene.late.requests('tick') as TickRequest[]
    const told = ticks.flatMap(({ worker }) => (worker === undefined ? [] : [worker.concurrency]))
    expect(told).toEqual([2, 5, 3])
    await other.stop()
  })
})

describe.each(leasedSetups)('counts of failures over $way', (setup) => {
  test('that have expired are swept away in steps, a turn of the event loop each, until none is left', async () => {
    const scene = new Scene(setup)
    const limiter = exponential({ baseMs: 1, maxMs: 1 })
    const queue = scene.limited({ failuresExpireMs: 1_000, limiter } as never)
    const tick = scene.inner.tick.bind(scene.inner)
    let inTurn = 0
    let most = 0
    scene.inner.tick = (...request) => {
      if (inTurn === 0) {
        setImmediate(() => {
          inTurn = 0
        })
      }
      inTurn += 1
      most = Math.max(most, inTurn)
      return tick(...request)
    }
    const idle = scene.queue({ failuresExpireMs: 1_000 })
    for (const round of ['first', 'second']) {
      await queue.addMany(Array.from({ length: 950 }, (_, at) => `k${at}`))
      for (const held of await queue.getMany(1_000)) await held.retry()
      await scene.clock.step(10)
      for (const held of await queue.getMany(1_000)) await held.done()
      await scene.clock.step(2_000)
      expect((await scene.inner.list('q', { limit: 1_000 })).rows.length).toBeGreaterThan(800)
      const worker = createWorker({ queue: idle, handler: () => undefined })
      await scene.clock.step(10_000)
      await scene.quiet()
      const { rows } = await scene.inner.list('q', { limit: 1_000 })
      expect(rows, round).toEqual([])
      expect(most).toBeLessThan(4)
      await worker.stop()
    }
  })
})
