import { keyStateWords } from '@sluice/core'
import { createRateLimitingQueue, createWorker, exponential, type Worker } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mostFirst } from '../src/views/failure-groups.ts'
import { findFailingKeys } from '../src/views/find-keys.ts'
import type { FailuresView, KeyLines, QueueView } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'
import { type Answer, actingSite, kept, queueOf, Site, withQuery } from './site.ts'

/** A worker on a queue whose keys `CODE/n` fail with that code; others succeed. */
function failing(site: Site, name: string): { worker: Worker; add(keys: string[]): Promise<void> } {
  const { driver, clock } = site
  const limiter = exponential({ baseMs: 3_600_000, maxMs: 3_600_000 })
  const queue = kept(createRateLimitingQueue<string>({ name, driver, clock, limiter }))
  const worker = createWorker({
    queue,
    concurrency: 4,
    async handler(item) {
      const [code = ''] = item.split('/')
      if (code === 'TypeError') throw new TypeError(`no ${item}`)
      if (code !== 'ok') throw Object.assign(new Error(`no ${item}`), { code })
    },
    onError: () => undefined,
  })
  onTestFinished(() => worker.stop())
  return {
    worker,
    async add(keys) {
      await queue.addMany(keys)
      await clock.step(1_000)
    },
  }
}

function many(code: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${code}/${index}`)
}

async function failuresOf(site: Site, query: Record<string, string> = {}): Promise<FailuresView> {
  const { status, body } = await site.ask<FailuresView>(withQuery('/api/failures', query))
  expect(status).toBe(200)
  return body
}

describe('the failures of a store', () => {
  async function failed(options: ConstructorParameters<typeof Site>[0] = {}): Promise<Site> {
    const site = kept(await actingSite(options))
    const [orders, mails] = [failing(site, 'orders'), failing(site, 'mails')]
    await orders.add([...many('ECONNREFUSED', 30), ...many('ok', 5), ...many('TypeError', 2)])
    await mails.add(many('EMAIL', 3))
    await site.clock.step(20_000)
    return site
  }

  test('are those of every queue, by code, over time, with examples', async () => {
    const site = await failed()
    const { groups, chart, more } = await failuresOf(site)
    expect(more).toBe(false)
    expect(groups).toMatchObject([
      { queue: 'orders', code: 'ECONNREFUSED', failed: 30, keys: 30 },
      { queue: 'mails', code: 'EMAIL', failed: 3, keys: 3 },
      { queue: 'orders', code: 'TypeError', failed: 2, keys: 2 },
    ])
    for (const { perStep, failed: count, lastAt } of groups) {
      expect(perStep).toHaveLength(chart.count)
      expect(perStep.reduce((sum, each) => sum + each, 0)).toBe(count)
      expect(lastAt).toBeGreaterThan(site.clock.now() - 60_000)
    }
    // A record has some of the runs of a code.
    expect(groups[0]?.runs.length).toBeGreaterThanOrEqual(5)
    expect(groups[1]?.runs[0]).toMatchObject({
      key: expect.stringMatching(/^EMAIL\/\d$/),
      ...{ failures: 1, message: expect.stringMatching(/^no EMAIL/), holder: expect.any(String) },
    })
    expect(chart.steps.reduce((sum, step) => sum + step.failed, 0)).toBe(35)
    // On one axis with the chart.
    const failedAt = chart.steps.find((step) => step.failed > 0)?.at ?? Number.NaN
    const index = (failedAt - chart.from) / chart.stepMs
    expect(groups.map(({ perStep }) => perStep.findIndex((count) => count > 0))).toEqual(
      groups.map(() => index),
    )
  })

  test('are as recent as the last of them, whichever key it is of', async () => {
    const site = kept(new Site())
    const orders = failing(site, 'orders')
    await orders.add(['CODE/b'])
    await orders.add(['CODE/a'])
    const { body } = await site.ask<KeyLines>('/api/keys?queue=orders')
    const [a = 0, b = 0] = body.keys.map(({ failedAt }) => failedAt)
    expect(a).toBeGreaterThan(b)
    expect((await failuresOf(site)).groups.map(({ lastAt }) => lastAt)).toEqual([a])
  })

  test('have five examples each on the page of a queue', async () => {
    const site = await failed()
    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    expect(body.failureGroups.map(({ runs }) => runs.length)).toEqual([5, 2])
  })

  test('are those of one queue if it is named', async () => {
    const site = await failed()
    const { groups } = await failuresOf(site, { queue: 'mails', range: '24h' })
    expect(groups.map(({ code }) => code)).toEqual(['EMAIL'])
    expect(groups[0]?.perStep).toHaveLength(145)
    expect((await failuresOf(site, { queue: 'nothing' })).groups).toEqual([])
    expect((await site.ask('/api/failures?queue=')).status).toBe(200)
    expect((await site.ask('/api/failures?range=1y')).status).toBe(400)
  })

  test('outlive their keys', async () => {
    const site = await failed()
    const { body } = await site.act({ queue: 'mails', action: 'purge', confirm: 'mails' })
    expect(body['changed']).toBe(3)
    await site.clock.step(10_000)
    const { groups } = await failuresOf(site, { queue: 'mails' })
    expect(groups).toMatchObject([{ code: 'EMAIL', failed: 3, keys: 0 }])
    const runs = groups[0]?.runs ?? []
    expect(runs).toHaveLength(3)
    const instants = runs.map(({ at }) => at)
    for (const at of instants) expect(at).toBeGreaterThan(site.clock.now() - 60_000)
    expect(groups[0]?.lastAt).toBe(Math.max(...instants))
  })

  test('can be acted on by code, also by the name of an error without one', async () => {
    const site = await failed()
    const errorCode = 'TypeError'
    const all = { errorCode }
    expect((await site.ask('/api/matching?queue=orders&errorCode=TypeError')).body).toEqual({
      ...{ count: 2, capped: false, lookedAt: 32 },
    })
    const act = (action: string) => site.act({ queue: 'orders', action, all, expected: 2 })
    for (const action of ['park', 'forget', 'unpark', 'runNow']) {
      expect((await act(action)).body, action).toMatchObject({ changed: 2 })
    }
    await site.clock.step(15_000)
    const { groups } = await failuresOf(site, { queue: 'orders' })
    expect(groups.find(({ code }) => code === errorCode)).toMatchObject({ failed: 4, keys: 2 })
    const { body } = await site.ask<KeyLines>(
      withQuery('/api/keys', { queue: 'orders', errorCode }),
    )
    expect(body.keys.map(({ key }) => key)).toEqual(['TypeError/0', 'TypeError/1'])
  })

  test('are pages of keys, each key once, also where one read of the store fills several', async () => {
    const site = await failed()
    const keys: string[] = []
    let query: Record<string, string | number> | undefined = {
      ...{ queue: 'orders', failuresMin: 1, limit: 7 },
    }
    while (query !== undefined && keys.length < 100) {
      const answer: Answer<KeyLines> = await site.ask(withQuery('/api/keys', query))
      const { cursor } = answer.body
      keys.push(...answer.body.keys.map(({ key }) => key))
      query = cursor === undefined ? undefined : { ...query, cursor }
    }
    const all = [...many('ECONNREFUSED', 30), ...many('TypeError', 2)]
    expect(keys).toEqual(all.toSorted())
  })

  test('pass redaction, and say that keys cannot be found by a code that it changed', async () => {
    const site = await failed({
      redactError: ({ name }) => ({ name, code: 'HIDDEN', message: 'hidden' }),
    })
    const { groups } = await failuresOf(site, { queue: 'orders' })
    expect(groups).toMatchObject([{ code: 'HIDDEN', isRedacted: true, failed: 32, keys: 32 }])
    expect(groups[0]?.perStep.reduce((sum, each) => sum + each, 0)).toBe(32)
    expect(JSON.stringify(groups)).not.toMatch(/ECONNREFUSED"|no ECONN|no Type/)
  })

  test('are not found by a code that redaction has changed, so that no guess is confirmed', async () => {
    const site = await failed({
      redactError: (error) =>
        error.code === 'ECONNREFUSED' ? { ...error, code: 'HIDDEN' } : error,
    })
    for (const [errorCode, count] of Object.entries({ ECONNREFUSED: 0, HIDDEN: 0, TypeError: 2 })) {
      const query = { queue: 'orders', errorCode }
      const { body } = await site.ask<KeyLines>(withQuery('/api/keys', query))
      expect(body.keys, errorCode).toHaveLength(count)
      expect((await site.ask(withQuery('/api/matching', query))).body).toMatchObject({ count })
    }
    const parked = (errorCode: string) =>
      site.act({ queue: 'orders', action: 'park', all: { errorCode }, expected: 2 })
    expect((await parked('ECONNREFUSED')).status).toBe(400)
    expect((await parked('TypeError')).body).toMatchObject({ changed: 2 })
  })

  test('are a stream, which says that a run failed with the next heartbeat', async () => {
    const site = await failed()
    const events = new EventReader(await site.send('/api/stream?about=failures'))
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    const late = failing(site, 'late')
    await late.add(['ELATE/1'])
    await site.clock.step(12_000)
    let groups: FailuresView['groups'] = []
    while (!groups.some(({ code }) => code === 'ELATE')) {
      groups = (await events.nextBut('ping', 'snapshot'))?.data.set.groups ?? groups
    }
    await events.cancel()
    expect(groups.map(({ code }) => code)).toContain('ELATE')
  })
})

test('failures count every key whose last run failed, also while it waits for a worker or runs again', async () => {
  const site = kept(new Site())
  const { driver, clock } = site
  const limiter = exponential({ baseMs: 1_000, maxMs: 1_000 })
  const queue = kept(createRateLimitingQueue<string>({ name: 'orders', driver, clock, limiter }))
  await queue.addMany(['runs again', 'waits', 'waits too'])
  for (const held of await queue.getMany(3)) {
    await held.retry(Object.assign(new Error('no'), { code: 'ENO' }))
  }
  await clock.step(10_000)
  await queue.add('has not failed')
  const again = await queue.get()
  expect(again?.failures).toBe(1)
  const shown = [{ code: 'ENO', keys: 3 }]
  expect((await failuresOf(site)).groups).toMatchObject(shown)
  const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
  expect(body.failureGroups).toMatchObject(shown)
  expect(body.failureGroups[0]).not.toHaveProperty('isPart')
  await again?.release()
})

test('failures without a history are those of stored keys', async () => {
  const site = kept(new Site())
  const queue = queueOf(site, 'orders')
  await queue.add('a')
  await (await queue.get())?.retry(Object.assign(new Error('no'), { code: 'ENO' }))
  expect(await failuresOf(site)).toMatchObject({
    chart: { steps: [] },
    groups: [{ queue: 'orders', code: 'ENO', failed: 0, keys: 1, runs: [{ key: 'a' }] }],
  })
})

test('failures are in the order of their runs, then of their keys, then of the last one', () => {
  const group = (failed: number, keys: number, lastAt?: number) => ({
    ...{ queue: 'orders', code: 'ENO', perStep: [], runs: [], failed, keys },
    ...(lastAt === undefined ? {} : { lastAt }),
  })
  const ordered = [group(2, 0), group(1, 7, 1), group(1, 3, 9), group(1, 3, 8), group(1, 3)]
  expect(ordered.toReversed().sort(mostFirst)).toEqual(ordered)
})

test('keys that have failed are found in every state', async () => {
  const site = kept(new Site())
  const queue = queueOf(site, 'orders')
  await queue.addMany(keyStateWords)
  for (const held of await queue.getMany(keyStateWords.length)) await held.retry(new Error('away'))
  await site.clock.step(60_000)
  for (const held of await queue.getMany(keyStateWords.length)) {
    if (held.key === 'ready') await held.release()
    if (held.key === 'backoff') await held.retry(new Error('away'))
    if (held.key === 'parked') await held.park(new Error('away'))
    if (held.key === 'dirty') await queue.add(held.key)
    if (held.key === 'idle' || held.key === 'delayed') await held.done()
  }
  await queue.addAfter('delayed', 60_000)
  const { keys } = await findFailingKeys(queue.inspect, await queue.inspect.counts(), 100)
  const found = keys.map(({ key, state }) => [key, state])
  expect(found.sort()).toEqual(keyStateWords.map((state) => [state, state]).sort())
})
