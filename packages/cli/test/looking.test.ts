import { DatabaseSync } from 'node:sqlite'
import { type SluiceEvent, sluiceChannel } from '@sluice/core'
import type { KeyInfo } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keyColumns } from '../src/rows/key-columns.ts'
import { cli, json, output } from './cli.ts'
import { newFile, storeKinds } from './stores.ts'

test('a list says when each key runs next, and shows errors that a terminal does not obey in one line', () => {
  const now = 1_000_000
  const message = 'no\u001b[2J\nway'
  const base = {
    state: 'ready',
    failures: 0,
    crashes: 0,
    priority: 0,
    lastError: { name: 'Error', message },
  }
  const held = { token: 1 }
  const infos = [
    { ...base, key: 'a', dueAt: now },
    { ...base, key: 'b', dueAt: now, held },
    { ...base, key: 'c', dueAt: now, parked: true },
    { ...base, key: 'd', dueAt: now + 5_000 },
    { ...base, key: 'e', held },
  ] as unknown as KeyInfo[]
  const columns = keyColumns((_, text) => text, now)
  const of = (title: string) => columns.find((column) => column.title === title)
  expect(infos.map((info) => of('DUE')?.text(info))).toEqual([
    ...['now', 'after this', 'never', 'in 5s', ''],
  ])
  expect(of('LAST ERROR')?.text(infos[0] as KeyInfo)).toBe('Error: no\\u001b[2J\\nway')
})

describe.each(storeKinds())('on $kind', ({ fresh }) => {
  test('an empty store has no queues, and says so on stderr', async () => {
    const store = await fresh()
    expect(await cli(['queues'], { store })).toEqual({
      code: 0,
      out: '',
      err: 'no queues in this store\n',
    })
    expect(await json(['queues'], { store })).toEqual({ queues: [] })
  })

  test('added keys are listed, with the state of the queue', async () => {
    const store = await fresh()
    expect(await output(['add', 'orders', 'order/42', 'order/43'], { store })).toBe(
      'order/42 added\norder/43 added\n',
    )
    expect(await output(['add', 'orders', 'order/42'], { store })).toBe('order/42 unchanged\n')
    const [header = '', row = ''] = (await output(['queues'], { store })).split('\n')
    expect(header.split(/ {3,}/)).toEqual([
      ...['QUEUE', 'STATE', 'READY', 'DELAYED', 'BACKOFF', 'PROCESSING', 'PARKED', 'OLDEST'],
      'WORKERS',
    ])
    expect(row).toMatch(/^orders +no workers +2 +0 +0 +0 +0 +\d+s +0$/)
    expect(await output(['ls', 'orders', '-o', 'name'], { store })).toBe('order/42\norder/43\n')
    expect(await output(['ls', 'orders', '--no-headers'], { store })).toMatch(
      /^order\/42 {3}ready {3}0 {3}now {3}\d+s\norder\/43 /,
    )
  })

  test('the JSON of a queue and of a key has its stable members', async () => {
    const store = await fresh()
    await output(['add', 'orders', '--item', '{"id":42}', '--priority', '7'], { store })
    const { queues } = await json<{ queues: object[] }>(['queues'], { store })
    expect(queues).toEqual([
      {
        queue: 'orders',
        severity: 'no workers',
        urgency: 'bad',
        reason: expect.any(String),
        paused: false,
        counts: {
          ready: 1,
          delayed: 0,
          backoff: 0,
          processing: 0,
          dirty: 0,
          parked: 0,
          idle: 0,
        },
        capped: false,
        oldestReadyAt: expect.any(Number),
        oldestAgeMs: expect.any(Number),
        workers: 0,
      },
    ])
    const info = {
      key: 'json:{"id":42}',
      state: 'ready',
      item: { id: 42 },
      priority: 7,
      askedAt: expect.any(Number),
      dueAt: expect.any(Number),
      why: 'add',
      readyAt: expect.any(Number),
      failures: 0,
      crashes: 0,
      parked: false,
    }
    expect(await json(['get', 'orders', 'json:{"id":42}'], { store })).toEqual({
      queue: 'orders',
      ...info,
    })
    expect(await json(['ls', 'orders'], { store })).toEqual({
      queue: 'orders',
      keys: [info],
      truncated: false,
    })
  })

  test('a missing key is exit code 4', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'order/42'], { store })
    const { code, out, err } = await cli(['get', 'orders', 'order/1'], { store })
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err).toBe('sluice: order/1 is not stored in orders [ERR_NOT_FOUND]\n')
  })
  test('--limit keys are listed by default, and --all lists every key page by page', async () => {
    const store = await fresh()
    const stdin = Array.from({ length: 2_345 }, (_, at) => `order/${String(at).padStart(4, '0')}`)
    await output(['add', 'orders', '--stdin'], { store, stdin })
    const first = await cli(['ls', 'orders', '--no-headers'], { store })
    expect(first.out.split('\n')).toHaveLength(101)
    expect(first.err).toBe('more than 100 keys match: see --limit and --all\n')
    expect(await output(['ls', 'orders', '--all', '-o', 'name'], { store })).toBe(
      `${stdin.join('\n')}\n`,
    )
    const all = (await output(['ls', 'orders', '-A'], { store })).trimEnd().split('\n')
    expect(all).toHaveLength(2_346)
    expect(all[0]).toMatch(/^KEY /)
    const { keys } = await json<{ keys: object[] }>(['ls', 'orders', '-A'], { store })
    expect(keys).toHaveLength(2_345)
    // All of it might be more than a string can hold, or the memory.
    for (const format of [
      ['-o', 'json'],
      ['-o', 'yaml'],
      ['--fields', 'key,state'],
    ]) {
      const texts: string[] = []
      await output(['ls', 'orders', '-A', ...format], { store, onOut: (text) => texts.push(text) })
      expect(texts.length).toBeGreaterThan(2)
      const once: string[] = []
      const most = ['ls', 'orders', '--limit', '5000', ...format]
      await output(most, { store, onOut: (text) => once.push(text) })
      expect(once).toEqual(texts)
      for (const prefix of ['x', 'order/00']) {
        const few = ['--prefix', prefix, ...format]
        expect(await output(['ls', 'orders', '-A', ...few], { store })).toBe(
          await output(['ls', 'orders', ...few], { store }),
        )
      }
    }
    const some = await cli(['ls', 'orders', '--limit', '2344', '-o', 'json'], { store })
    expect(some.err).toBe('more than 2344 keys match: see --limit and --all\n')
    const { keys: most, truncated } = JSON.parse(some.out) as { keys: object[]; truncated: boolean }
    expect({ truncated, most }).toEqual({ truncated: true, most: keys.slice(0, -1) })
    const none = await cli(['ls', 'orders', '-A', '--prefix', 'x'], { store })
    expect(none).toEqual({ code: 0, out: '', err: 'no such keys in orders\n' })
  })

  test('that names with special characters are shown as JSON is said once, not for each page', async () => {
    const store = await fresh()
    const stdin = Array.from({ length: 2_345 }, (_, at) => ` order/${at}`)
    await output(['add', 'orders', '--stdin'], { store, stdin })
    const { err } = await cli(['ls', 'orders', '--all', '-o', 'name'], { store })
    expect(err).toBe('names with special characters are shown as JSON strings\n')
  })
})

test('ls reads no more keys than it prints, and one to know of more', async () => {
  const store = newFile()
  await output(['add', 'orders', '1', '2', '3', '4', '5'], { store })
  const limits: unknown[] = []
  const subscriber = {
    start: ({ verb, request }: SluiceEvent) => {
      if (verb === 'list') limits.push((request as { limit?: number }).limit)
    },
    end() {},
    asyncStart() {},
    asyncEnd() {},
    error() {},
  }
  sluiceChannel.subscribe(subscriber)
  onTestFinished(() => void sluiceChannel.unsubscribe(subscriber))
  await output(['ls', 'orders', '-o', 'name', '--limit', '3'], { store })
  expect(limits).toEqual([4])
})

test('a key of which the item is not JSON hides no other, and doctor names it', async () => {
  const store = newFile()
  await output(['add', 'orders', '1', '2', '3', '4', '5'], { store })
  const database = new DatabaseSync(store.slice('sqlite:'.length))
  database.exec("update sluice_keys set item = '{' where key = '5'")
  database.close()
  const ls = ['ls', 'orders', '-o', 'name', '--limit']
  expect(await cli([...ls, '3'], { store })).toEqual({
    code: 0,
    out: '1\n2\n3\n',
    err: 'more than 3 keys match: see --limit and --all\n',
  })
  for (const options of [['5'], ['5', '--failures-min', '0']]) {
    expect((await output([...ls, ...options], { store })).trim()).toBe('1\n2\n3\n4\n5')
  }
  const key = JSON.parse(await output(['get', 'orders', '5', '-o', 'json'], { store }))
  expect(key).toMatchObject({ key: '5', state: 'ready', item: '{' })
  const { code, out } = await cli(['doctor'], { store })
  expect([code, out]).toEqual([3, expect.stringContaining('the item of key 5 is not JSON')])
})
