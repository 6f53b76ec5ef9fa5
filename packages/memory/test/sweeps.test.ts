import { type ListReply, type TickReply, type WorkerRow, workerMsMax } from '@sluice/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WorkerRegistry } from '../src/worker-registry.ts'
import { claim, open, options } from './hand-driver.ts'

test('deletes stale rows in bounded steps, oldest first', () => {
  const { clock, driver } = open()
  const failed = { item: undefined, priority: 0, delayMs: 0, failed: true }
  const keys = Array.from({ length: 25 }, (_, at) => `key-${at}`)
  for (const key of keys) void driver.add('q', [{ ...failed, key }], options)
  for (const { key, token } of claim(driver, 25)) {
    void driver.finish('q', [{ as: 'done', key, token, forget: false }], options)
  }
  const tick = (): number => {
    const request = { holder: 'h', limit: 10, failuresExpireMs: 1_000 }
    return (driver.tick('q', request) as TickReply).swept
  }
  expect(tick()).toBe(0)
  clock.pass(1_000)
  expect([tick(), tick(), tick(), tick()]).toEqual([10, 10, 5, 0])
  expect((driver.list('q', { limit: 99 }) as ListReply).rows).toEqual([])
})

test('adds delete stale rows, so that rows do not pile up without a worker', () => {
  const { clock, driver } = open()
  const queue = driver.direct!('q')
  const expireMs = 1_000
  const own = { ...options, failuresExpireMs: expireMs }
  const rows = (): number => (driver.list('q', { limit: 100_000 }) as ListReply).rows.length
  let most = 0
  for (let second = 0; second < 60; second += 1) {
    for (let at = 0; at < 500; at += 1) {
      const key = `key-${second}-${at}`
      const ask = { key, item: undefined, priority: 0, delayMs: 0, failed: true }
      if (at % 3 === 0) queue.ask(ask, own)
      else void driver.add('q', [ask], own)
      const [held] = claim(driver, 1)
      const done = { as: 'done', key, token: held!.token, forget: false } as const
      void driver.finish('q', [done], own)
      clock.pass(2)
    }
    most = Math.max(most, rows())
  }
  // Those of the second that counts, and of the one until the next sweep.
  expect(most).toBeLessThanOrEqual(1_100)
  clock.pass(expireMs)
  // Stale rows go in small steps, with adds of any kind.
  for (let at = 0; at < 100; at += 1) queue.add(`plain ${at % 2}`, undefined, 0, own)
  expect(rows()).toBe(2)
})

test('workers that were not seen for a day are deleted, however soon failures expire', () => {
  const { clock, driver } = open()
  const tick = (holder: string, failuresExpireMs: number): void => {
    const worker = { holder, host: 'h', pid: 1, concurrency: 1, settings: {} }
    void driver.tick('q', { holder, limit: 10, failuresExpireMs, worker })
  }
  const day = 24 * 3_600_000
  const workers = (): string[] =>
    (driver.workers!('q', 7 * day) as readonly WorkerRow[]).map(({ holder }) => holder)
  tick('one', 1_000)
  clock.pass(5_000)
  tick('two', 1_000)
  expect(workers()).toEqual(['one', 'two'])
  clock.pass(day - 5_000)
  tick('two', 10 * day)
  expect(workers()).toEqual(['one', 'two'])
  clock.pass(1)
  tick('two', 10 * day)
  expect(workers()).toEqual(['two'])
})

test('a tick deletes the workers that are gone without a look at those that stay', () => {
  const workers = new WorkerRegistry()
  const register = (holder: string, now: number): void =>
    workers.register({ holder, host: 'h', pid: 1, concurrency: 1, settings: {} }, now)
  const ticks = 1_000
  for (let now = 0; now < ticks; now += 1) {
    register(`worker-${now}`, now)
    register('long-lived', now)
  }
  const steps = vi.spyOn(Object.getPrototypeOf(new Map().entries()), 'next')
  onTestFinished(() => steps.mockRestore())
  workers.deleteGone(ticks + workerMsMax - 3)
  const stepsMade = steps.mock.calls.length
  expect(workers.size).toBe(4)
  steps.mockClear()
  workers.deleteGone(ticks + workerMsMax - 3)
  expect(stepsMade).toBe(ticks - 3 + 1)
  expect(steps.mock.calls.length).toBe(1)
})
