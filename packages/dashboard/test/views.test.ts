import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteDriver } from '@sluice/sqlite'
import { createRateLimitingQueue, createWorker, type Driver, memoryDriver } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DashboardOptions } from '../src/dashboard.ts'
import type { KeyLines, KeyView, Overview, QueueView } from '../src/wire.ts'
import { kept, queueOf, Site, withQuery } from './site.ts'

/** Names that have broken other dashboards or could break this one. */
const hostile: readonly string[] = [
  '..',
  '.',
  '/',
  '../../etc/passwd',
  'a/b?c=d&e#f',
  '%2e%2e%2f',
  '%00',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'; drop table sluice_keys; --",
  '\u202eright to left',
  'line\nfeed\r\nevent: snapshot',
  ' spaces ',
  'ünïcödé 🚰 キー',
  '\ud83d\udeb0'.repeat(30),
  'json',
  'x'.repeat(128),
]

describe('leases', () => {
  test('of a key that is found only after many other held ones are shown', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const driver = sqliteDriver({ file: join(folder, 'queue.db'), durability: 'process' })
    const site = kept(new Site({ driver }))
    const queue = queueOf(site, 'orders')
    await queue.add('the last')
    await queue.get()
    await site.clock.step(1_000)
    // A store looks at about 2,000 keys for a page, and answers with what it has found.
    for (let from = 0; from < 2_100; from += 700) {
      await queue.addMany(Array.from({ length: 700 }, (_, at) => `order/${from + at}`))
      await queue.getMany(700)
    }
    await queue.add('the last')
    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    expect(body.leases[0]).toMatchObject({ key: 'the last', isDirty: true })
  })
})

test('the page of a queue that is in use does not read the names of all queues', async () => {
  const driver = memoryDriver()
  const site = kept(new Site({ driver }))
  await queueOf(site, 'orders').add('a')
  driver.queues = () => Promise.reject(new Error('too many'))
  const { status, body } = await site.ask<QueueView>('/api/queue?queue=orders')
  expect([status, body.exists, body.similar]).toEqual([200, true, []])
})

describe('the conditions for a run', () => {
  test('are those of the store, and say nothing of a queue object', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    await queue.shutDown()
    expect((await queue.inspect.explain('a')).blockedBy).toBe('QUEUE_SHUTTING_DOWN')
    const { body } = await site.ask<KeyView>('/api/key?queue=orders&key=a')
    const codes = body.conditions.map(({ code }) => code)
    expect(codes.slice(0, 2)).toEqual(['QUEUE_PAUSED', 'PARKED'])
    expect(codes).not.toContain('QUEUE_SHUTTING_DOWN')
  })
})

describe('when the next key is due', () => {
  test('is told where all keys that wait were read, and not of some of them', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const next = async (): Promise<(number | undefined)[]> => {
      // Keys that wait are read again after some seconds.
      await site.clock.step(6_000)
      const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
      return [body.nextDelayedAt, body.nextBackoffAt]
    }
    expect(await next()).toEqual([undefined, undefined])
    const at = site.clock.now()
    await queue.addMany(['fails later', 'fails'])
    for (const held of await queue.getMany(2)) {
      const retryAfterMs = held.key === 'fails' ? 500_000 : 900_000
      await held.retry(Object.assign(new Error('no'), { retryAfterMs }))
    }
    await queue.addAfter('later', 300_000)
    await queue.addAfter('soon', 100_000)
    expect(await next()).toEqual([at + 100_000, at + 500_000])
    // The list is in the order of the keys, so the first of many need not be the next.
    for (let key = 0; key < 1_000; key += 1) await queue.addAfter(`order/${key}`, 200_000)
    expect(await next()).toEqual([undefined, at + 500_000])
    for (let key = 0; key < 1_000; key += 1) await queue.addRateLimited(`a/${key}`)
    expect(await next()).toEqual([undefined, undefined])
  })
})

describe('queues and keys of any name', () => {
  test('are listed, shown and found under their exact names', async () => {
    const site = kept(new Site())
    for (const name of hostile) await queueOf(site, name).addMany([...hostile])
    const { body: overview } = await site.ask<Overview>('/api/overview')
    expect(overview.queues.map(({ queue }) => queue).sort()).toEqual([...hostile].sort())
    for (const queue of hostile) {
      const path = withQuery('/api/queue', { queue })
      const { status, body } = await site.ask<QueueView>(path)
      expect([status, body.queue, body.counts.ready], queue).toEqual([200, queue, hostile.length])
      const keys = await site.ask<KeyLines>(withQuery('/api/keys', { queue }))
      expect(keys.body.keys.map(({ key }) => key).sort(), queue).toEqual([...hostile].sort())
    }
    for (const key of hostile) {
      const path = withQuery('/api/key', { queue: '__proto__', key })
      expect((await site.ask<KeyView>(path)).body, key).toMatchObject({ key, state: 'ready' })
    }
    expect(({} as Record<string, unknown>)['queue']).toBeUndefined()
  })

  test('may have the maximum length, and are rejected beyond it', async () => {
    const site = kept(new Site())
    const key = 'ü'.repeat(256)
    await queueOf(site, 'orders').add(key)
    const found = await site.ask(withQuery('/api/key', { queue: 'orders', key }))
    expect(found.body).toMatchObject({ key, state: 'ready' })
    const wrong = [
      { queue: 'orders', key: `${key}x` },
      { queue: 'orders', key: '' },
      { queue: 'x'.repeat(129), key },
      { queue: 'or\0ders', key },
      { key },
      { queue: 'orders' },
    ]
    for (const query of wrong) {
      const { status, body } = await site.ask(
        withQuery('/api/key', query as Record<string, string>),
      )
      expect([status, body['code']], JSON.stringify(query)).toEqual([400, 'ERR_INVALID_INPUT'])
    }
  })
})

describe('a key that is not stored', () => {
  test('is absent, and no error', async () => {
    const site = kept(new Site())
    const { status, body } = await site.ask<KeyView>('/api/key?queue=orders&key=none&item=1')
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'absent', blockedBy: 'NOT_FOUND', steps: [], errors: [] })
    expect(body).not.toHaveProperty('line')
    expect((await site.ask<QueueView>('/api/queue?queue=none')).body.counts.ready).toBe(0)
    for (const queue of ['Orders', 'orders/eu', 'bail', 'mails', 'parcels'])
      await queueOf(site, queue).add('a')
    const similar = async (name: string) =>
      (await site.ask<QueueView>(`/api/queue?queue=${encodeURIComponent(name)}`)).body.similar
    expect(await similar('order')).toEqual(['Orders', 'orders/eu'])
    expect(await similar('mials')).toEqual([])
    expect([await similar('mail'), await similar('nails')]).toEqual([['mails', 'bail'], ['mails']])
    expect(await similar('mails')).toEqual([])
  })
})

describe('a key that changes while it is read', () => {
  test('is shown as it was at one moment', async () => {
    const inner = memoryDriver()
    const asks = [{ key: 'a', item: '"a"', priority: 0, delayMs: 0, why: 'ask' }] as const
    const options = { dedupe: 'earliest', failuresExpireMs: 1_000 } as const
    let changed: Promise<unknown> = Promise.resolve()
    const driver = new Proxy(inner, {
      get(target, name) {
        if (name === 'list') {
          // Each read waits for the change after the one before.
          return (...request: Parameters<Driver['list']>) => {
            const listed = changed.then(() => target.list(...request))
            changed = listed.then(() => target.add('orders', asks, options))
            return listed
          }
        }
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const site = kept(new Site({ driver }))
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const held = await queue.get()
    const { body } = await site.ask<KeyView>('/api/key?queue=orders&key=a')
    expect([body.state, body.line?.state]).toEqual(['processing', 'processing'])
    const next = await site.ask<KeyView>('/api/key?queue=orders&key=a')
    expect([next.body.state, next.body.line?.state]).toEqual(['dirty', 'dirty'])
    await held?.done()
  })
})

describe('items', () => {
  test('are sent only on request', async () => {
    const site = kept(new Site())
    await queueOf<object>(site, 'orders').add({ secret: 'Joe' })
    const key = 'json:{"secret":"Joe"}'
    const withKey = { queue: 'orders', key }
    const paths = ['/api/overview', '/api/queue?queue=orders', '/api/keys?queue=orders']
    for (const path of [...paths, withQuery('/api/key', withKey)]) {
      const { text } = await site.ask(path)
      expect(text.replaceAll(JSON.stringify(key).slice(1, -1), 'KEY'), path).not.toContain('Joe')
    }
    const lines = await site.ask<KeyLines>('/api/keys?queue=orders&items=1')
    expect(lines.body.keys[0]).toMatchObject({ key, hasItem: true, item: { secret: 'Joe' } })
    const one = await site.ask<KeyView>(withQuery('/api/key', { ...withKey, item: 1 }))
    expect(one.body.line).toMatchObject({ hasItem: true, item: { secret: 'Joe' } })
  })

  test('pass redaction, with the queue and the key that they belong to', async () => {
    const seen: unknown[] = []
    const site = kept(
      new Site({
        redact: (item, about) => {
          seen.push(about)
          return { ...(item as object), secret: '***' }
        },
      }),
    )
    await queueOf<object>(site, 'orders').add({ secret: 'Joe', open: 1 })
    const { body } = await site.ask<KeyLines>('/api/keys?queue=orders&items=1')
    expect(body.keys[0]?.item).toEqual({ secret: '***', open: 1 })
    expect(seen).toEqual([{ queue: 'orders', key: body.keys[0]?.key }])
  })

  test('are not shown if redaction fails or returns a value that JSON cannot represent', async () => {
    const site = kept(
      new Site({
        redact: (item) => {
          if (item === 'b') return undefined
          throw new Error('no')
        },
      }),
    )
    const queue = queueOf(site, 'orders')
    await queue.addMany(['a', 'b'])
    const { body } = await site.ask<KeyLines>('/api/keys?queue=orders&items=1')
    expect(body.keys.map(({ item }) => item)).toEqual([
      '(not shown: it could not be redacted)',
      null,
    ])
    expect(site.errors).toHaveLength(1)
  })

  test('are not shown if the redaction returns a promise', async () => {
    const site = kept(
      new Site({
        redact: async () => {
          throw new Error('no')
        },
      }),
    )
    await queueOf(site, 'orders').add('a')
    const { body } = await site.ask<KeyLines>('/api/keys?queue=orders&items=1')
    expect(body.keys[0]?.item).toBe('(not shown: it could not be redacted)')
    expect(site.errors.map(String)).toEqual([
      expect.stringContaining('redact(item) must return a value; got '),
      'Error: no',
    ])
  })

  test('named like members of Object.prototype are complete', async () => {
    const site = kept(new Site())
    const item: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}')
    await queueOf<unknown>(site, 'orders').add(item as object)
    const { text } = await site.ask('/api/keys?queue=orders&items=1')
    expect(text).toContain('"item":{"__proto__":{"polluted":1},"constructor":2}')
  })
})

describe('errors', () => {
  async function failingSite(options: ConstructorParameters<typeof Site>[0]): Promise<Site> {
    const site = kept(new Site(options))
    const queue = queueOf(site, 'orders')
    await queue.addMany(['a', 'b', 'c'])
    for (let run = 0; run < 3; run += 1) {
      const held = await queue.get()
      const code = held?.key === 'c' ? undefined : 'ECONNREFUSED'
      const error = new Error(`connect to 10.0.0.${run}`)
      await held?.retry(code === undefined ? error : Object.assign(error, { code }))
    }
    return site
  }

  test('are grouped by what they have in common', async () => {
    const site = await failingSite({})
    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    expect(body.failureGroups).toEqual([
      expect.objectContaining({ queue: 'orders', code: 'ECONNREFUSED', keys: 2, failed: 0 }),
      {
        ...{ queue: 'orders', code: 'Error', keys: 1, failed: 0, perStep: [] },
        lastAt: site.clock.now(),
        runs: [{ at: site.clock.now(), key: 'c', failures: 1, message: 'connect to 10.0.0.2' }],
      },
    ])
  })

  test('pass redaction wherever they are shown', async () => {
    const site = await failingSite({
      redactError: ({ name }, { key }) => {
        if (key === 'c') throw new Error('no')
        return { name, message: `about ${key}` }
      },
    })
    const paths = ['/api/overview', '/api/queue?queue=orders', '/api/keys?queue=orders']
    for (const path of [...paths, '/api/key?queue=orders&key=a', '/api/key?queue=orders&key=c']) {
      expect((await site.ask(path)).text, path).not.toContain('10.0.0')
    }
    const { body } = await site.ask<KeyView>('/api/key?queue=orders&key=a')
    expect(body.errors).toEqual([{ name: 'Error', message: 'about a' }])
    expect(body.line?.lastError?.message).toBe('about a')
    expect(site.errors).toContainEqual(new Error('no'))
  })

  test.each([
    ['a promise', async () => ({ name: 'Error', message: 'm' })],
    ['a promise that rejects', async () => Promise.reject(new Error('no'))],
    ['nothing', () => undefined],
    ['a text', () => 'hidden'],
  ])('are not shown if the redaction returns %s', async (what, redactError) => {
    const site = await failingSite({
      redactError: redactError as unknown as DashboardOptions['redactError'],
    })
    const { body } = await site.ask<KeyView>('/api/key?queue=orders&key=a')
    expect(body.line?.lastError).toEqual({
      name: 'Error',
      message: '(not shown: it could not be redacted)',
    })
    expect(site.errors.map(String)).toContainEqual(
      expect.stringMatching(/redactError\(error\) must return \{ name, message \}; got /),
    )
    if (what.endsWith('rejects')) expect(site.errors).toContainEqual(new Error('no'))
  })

  test('have a name and a message, whatever is left of them', async () => {
    const site = await failingSite({ redactError: () => ({}) as never })
    const { body } = await site.ask<KeyView>('/api/key?queue=orders&key=a')
    expect(body.line?.lastError).toEqual({ name: 'Error', message: '' })
  })
})

describe('a list of keys', () => {
  test('comes in pages, each key once, with every filter', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const keys = Array.from({ length: 450 }, (_, at) => `order/${String(at).padStart(3, '0')}`)
    await queue.addMany(keys)
    for (const key of ['order/200', 'order/201', 'order/449']) await queue.inspect.park(key)
    const all = async (query: Record<string, string | number>): Promise<string[]> => {
      const found: string[] = []
      let cursor: string | undefined
      do {
        const path = withQuery('/api/keys', {
          queue: 'orders',
          ...query,
          ...(cursor === undefined ? {} : { cursor }),
        })
        const { body } = await site.ask<KeyLines>(path)
        found.push(...body.keys.map(({ key }) => key))
        cursor = body.cursor
      } while (cursor !== undefined)
      return found
    }
    expect(await all({})).toEqual(keys)
    expect(await all({ limit: 200 })).toEqual(keys)
    expect(await all({ limit: 7, prefix: 'order/04' })).toEqual(keys.slice(40, 50))
    expect(await all({ state: 'parked', limit: 1 })).toEqual([
      'order/200',
      'order/201',
      'order/449',
    ])
    expect(await all({ failuresMin: 1 })).toEqual([])
  })

  test('finds keys by their failures and by the code of the last error', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.addMany(Array.from({ length: 300 }, (_, at) => `k${String(at).padStart(3, '0')}`))
    for (let run = 0; run < 300; run += 1) {
      const held = await queue.get()
      if (run % 100 === 50) await held?.retry(Object.assign(new Error('x'), { code: `E${run}` }))
      else await held?.release()
    }
    const find = async (query: Record<string, string | number>): Promise<KeyLines> =>
      (await site.ask<KeyLines>(withQuery('/api/keys', { queue: 'orders', ...query }))).body
    const failed = await find({ failuresMin: 1 })
    expect(failed.keys.map(({ key }) => key)).toHaveLength(3)
    expect(failed.lookedAt).toBe(300)
    expect((await find({ errorCode: 'E150' })).keys).toHaveLength(1)
    const first = await find({ failuresMin: 1, limit: 1 })
    expect(first.keys).toHaveLength(1)
    const rest = await find({ failuresMin: 1, cursor: first.cursor ?? '' })
    expect([...first.keys, ...rest.keys]).toEqual(failed.keys)
    const { body } = await site.ask('/api/matching?queue=orders&failuresMin=1')
    expect(body).toEqual({ count: 3, capped: false, lookedAt: 300 })
  })

  test('rejects invalid parameters', async () => {
    const site = kept(new Site())
    const wrong = [
      'state=happy',
      'limit=0',
      'limit=201',
      'limit=x',
      'limit=1.5',
      'limit=1e1',
      'failuresMin=-1',
      'failuresMin=1.5',
    ]
    const texts = [`prefix=${'x'.repeat(600)}`, 'prefix=%00', 'errorCode=a%00', 'cursor=%00']
    for (const query of [...wrong, ...texts]) {
      const { status, body } = await site.ask(`/api/keys?queue=orders&${query}`)
      expect([status, body['code']], query).toEqual([400, 'ERR_INVALID_INPUT'])
    }
    expect((await site.ask('/api/stream?about=everything')).status).toBe(400)
  })
})

describe('a dashboard below a path', () => {
  test('answers there and nowhere else, and leads to where its links work', async () => {
    const site = kept(new Site({ basePath: '/tools/queues' }))
    const { status, headers } = await site.ask('/tools/queues')
    expect([status, headers.get('location')]).toEqual([308, '/tools/queues/'])
    expect((await site.ask('/tools/queues/api/overview')).status).toBe(200)
    for (const path of [
      '/',
      '/api/overview',
      '/tools/api/overview',
      '/tools/queuesx/api/overview',
    ]) {
      expect((await site.ask(path)).status, path).toBe(404)
    }
    // What a browser makes of dots, it is what counts.
    expect((await site.ask('/x/../tools/queues/api/session')).status).toBe(200)
    expect((await site.ask('/tools/queues/%2e%2e/api/session')).status).toBe(404)
  })
})

describe('a page of keys with items', () => {
  test('leaves out items beyond a megabyte, which can be read one by one', async () => {
    const site = kept(new Site())
    const queue = kept(
      createRateLimitingQueue<{ at: number; text: string }>({
        ...{ name: 'orders', driver: site.driver, clock: site.clock },
        keyOf: ({ at }) => `order/${at}`,
      }),
    )
    for (let at = 0; at < 40; at += 1) await queue.add({ at, text: 'x'.repeat(60_000) })
    const { body, text } = await site.ask<KeyLines>('/api/keys?queue=orders&items=1')
    expect(body.keys).toHaveLength(40)
    expect(body.keys.every(({ hasItem }) => hasItem)).toBe(true)
    const shown = body.keys.filter((line) => 'item' in line)
    expect(shown).toHaveLength(18)
    expect(text.length).toBeLessThan(4_000_000)
  })
})

describe('a queue of which every key is done', () => {
  test('stays in the overview, since a worker is there for the next', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const worker = createWorker({ queue, handler: async () => {} })
    await site.ask('/api/overview')
    await worker.runUntilIdle()
    const { body } = await site.ask<Overview>('/api/overview')
    expect(body.queues).toMatchObject([{ queue: 'orders', severity: 'ok', counts: { ready: 0 } }])
  })
})
