import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { sqliteDriver } from '@sluice/sqlite'
import { createQueue, memoryDriver } from 'sluice'
import { exportQueue, importQueue } from 'sluice/transfer'
import { describe, expect, onTestFinished, test } from 'vitest'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { postgresKind } from '../../support/stores/postgres-kind.ts'
import { storeKinds } from '../../support/stores/store-kind.ts'
import { around } from '../../support/transfer/around.ts'
import {
  fill,
  keepOpen,
  queueOn,
  rowsOf,
  shifted,
  steppedStore,
} from '../../support/transfer/full-queue.ts'
import { turnOfEventLoop } from '../../support/transfer/turn-of-event-loop.ts'

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

const head = '{"sluice":"queue","version":1,"queue":"q","exportedAt":1}'
const lastToken = 'lines[0].lastToken'

/** A line of a key, which is well but for what is said. */
function row(wrong: object): string {
  const well = { key: 'a', seq: 1, priority: 0, why: 'add', laterWhy: 'add', dueAt: 1, readyAt: 1 }
  return JSON.stringify({ ...well, askedAt: 1, failures: 0, crashes: 0, parked: false, ...wrong })
}

/** A line of a bucket, which is well but for what is said. */
function bucket(wrong: object): string {
  const well = { name: 'b', perSecond: 1, burst: 5, tokens: 5, at: 1 }
  return JSON.stringify({ bucket: { ...well, ...wrong } })
}

describe.each([...storeKinds, postgresKind()])('$name', ({ make }) => {
  async function setUp() {
    const clock = fakeClock(1_000_000_000)
    const from = make()
    const to = make()
    await keepOpen(from, clock)
    await keepOpen(to, clock)
    await fill(from, clock)
    return { clock, from, to, source: queueOn(from, clock), target: queueOn(to, clock) }
  }

  test('what is exported comes back as it was, buckets and tokens too', async () => {
    const { from, to, source, target } = await setUp()
    const before = await rowsOf(from)
    const lines = await collect(exportQueue(source))
    expect(lines).toHaveLength(before.length + 3)
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    const result = await importQueue(target, lines)
    expect(result).toEqual({ imported: before.length, merged: 0, unchanged: 0 })
    expect(await rowsOf(to)).toEqual(before)
    expect(await rowsOf(from)).toEqual(before)
    expect(await to.buckets?.()).toEqual(await from.buckets?.())
    const [old, young] = [await source.get(), await target.get()]
    expect(young?.key).toBe(old?.key)
    expect(await collect(exportQueue(target))).toHaveLength(lines.length)
    await old?.release()
    await young?.release()
    await source.close()
    await target.close()
  })

  test('a queue that was closed is neither exported nor imported, whatever the lines', async () => {
    const { source, target } = await setUp()
    await source.close()
    await target.close()
    await expect(collect(exportQueue(source))).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(importQueue(target, [])).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('a key that is imported wakes a get that waits for it', async () => {
    const { source, target } = await setUp()
    const lines = await collect(exportQueue(source))
    const getting = target.get()
    await importQueue(target, lines)
    const held = await getting
    expect(held?.key).toBeDefined()
    await held?.release()
    await source.close()
    await target.close()
  })

  test('texts with line ends of Unicode go through a file that readLines reads', async () => {
    const { source, target } = await setUp()
    const key = 'a\u2028b\u2029c'
    await source.add(key)
    const folder = mkdtempSync(join(tmpdir(), 'sluice-export-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'lines')
    writeFileSync(file, await collect(exportQueue(source)).then((lines) => lines.join('')))
    const handle = await open(file)
    await importQueue(target, handle.readLines())
    await handle.close()
    expect((await target.inspect.get(key))?.key).toBe(key)
    await source.close()
    await target.close()
  })

  test('the rest of the process goes on between the pages of a long queue', async () => {
    const { source, target } = await setUp()
    const lines: string[] = []
    const turn = turnOfEventLoop()
    for await (const line of exportQueue(source)) lines.push(line)
    expect(turn.hasPassed()).toBe(true)
    const other = turnOfEventLoop()
    await importQueue(target, lines)
    expect(other.hasPassed()).toBe(true)
    await source.close()
    await target.close()
  })

  test('an export has the instants of the wall clock, and an import those of its store', async () => {
    const [from, clock] = await steppedStore({ name: '', make }, 3_600_000)
    const [to, other] = await steppedStore({ name: '', make }, 60_000)
    await fill(from, clock, 20)
    const source = queueOn(from, clock)
    const target = queueOn(to, other)
    const lines = await collect(exportQueue(source))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ exportedAt: clock.now() })
    const later = lines.find((line) => line.includes('"later"')) ?? ''
    expect(JSON.parse(later)).toMatchObject({ dueAt: clock.now() + 60_000 })
    await importQueue(target, lines)
    const rows = await rowsOf(from)
    expect(await rowsOf(to)).toEqual(rows.map((row) => shifted(row, 60_000 - 3_600_000)))
    // Of a store whose time is ahead, too: made again, it changes nothing.
    expect(await importQueue(target, lines)).toMatchObject({ imported: 0, merged: 0 })
    const [bucket] = (await from.buckets?.()) ?? []
    const at = (bucket?.at ?? 0) + 60_000 - 3_600_000
    expect(await to.buckets?.()).toEqual([{ ...bucket, at }])
    await source.close()
    await target.close()
  })

  test('an import that is made again changes nothing', async () => {
    const { to, source, target } = await setUp()
    const lines = await collect(exportQueue(source))
    // Cut off in the middle of a page.
    await expect(importQueue(target, lines.slice(0, 500))).rejects.toMatchObject({
      code: 'ERR_INVALID_INPUT',
      parameter: 'lines',
    })
    const some = (await rowsOf(to)).length
    expect(some).toBeGreaterThan(490)
    expect(await importQueue(target, lines)).toEqual({
      imported: lines.length - 3 - some,
      merged: 0,
      unchanged: some,
    })
    expect(await importQueue(target, lines)).toMatchObject({ imported: 0, merged: 0 })
    await source.close()
    await target.close()
  })

  test('the keys before a line that is refused are in the queue, and its workers get them', async () => {
    const { source, target } = await setUp()
    const lines = await collect(exportQueue(source))
    const waiting = target.get()
    await target.len()
    await expect(importQueue(target, [...lines.slice(0, 9), '{'])).rejects.toMatchObject({
      parameter: 'lines[9]',
    })
    const held = await waiting
    expect(held?.key).toBeTypeOf('string')
    await held?.release()
    await source.close()
    await target.close()
  })

  test('blank lines are skipped, and a key that comes twice is merged with itself', async () => {
    const queue = createQueue<string>({ name: 'q', driver: make() })
    const trace = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
    const twice = [row({ dueAt: 9e12, readyAt: 9e12, priority: 3, trace }), row({ failures: 2 })]
    const lines = [
      head.replace('}', ',"lastToken":1}'),
      '',
      ...twice,
      ' \n',
      '{"end":true,"keys":2}',
      '\n',
    ]
    const imported = { imported: 1, merged: 1, unchanged: 0 }
    expect(await importQueue(queue, lines)).toEqual(imported)
    expect(await queue.inspect.get('a')).toMatchObject({ priority: 3, failures: 2, dueAt: 1 })
    await queue.close()
  })

  test('a file is read line by line, however long its store takes to open', async () => {
    const { source } = await setUp()
    const lines = await collect(exportQueue(source))
    const reader = createInterface({ input: Readable.from(lines) })
    const isReading = once(reader, 'line')
    const target = createQueue({ name: 'q', driver: around(make(), 'open', () => isReading) })
    const { imported } = await importQueue(target, reader)
    expect(imported).toBe(lines.length - 3)
    await source.close()
    await target.close()
  })

  test('a key that is held is exported as if it had been released', async () => {
    const { to, source, target } = await setUp()
    const held = await source.get()
    await importQueue(target, exportQueue(source))
    const row = (await rowsOf(to)).find(({ key }) => key === held?.key)
    expect(row).toMatchObject({ state: 'ready', priority: held?.priority })
    await held?.release()
    await source.close()
    await target.close()
  })

  test('items come back as they were', async () => {
    const items = [
      { key: 'a', deep: [1, { b: null }] },
      { key: 'ü\u2028\n', deep: [] },
    ]
    const keyOf = (item: { key: string }) => item.key
    const source = createQueue({ name: 'items', driver: make(), keyOf })
    const target = createQueue({ name: 'others', driver: make(), keyOf })
    await source.addMany(items as never)
    await importQueue(target, exportQueue(source))
    const helds = await target.getMany(2)
    expect(helds.map(({ item }) => item)).toEqual(items)
    await target.doneMany(helds)
    await source.close()
    await target.close()
  })

  test.each([
    ['no JSON', ['{'], 'lines[0]'],
    ['no head', ['{"key":"a"}'], 'lines[0].seq'],
    ['a head of another program', ['{"sluice":"other","version":1}'], 'lines[0]'],
    ['a head of another version', ['{"sluice":"queue","version":9}'], 'lines[0]'],
    [
      'something after the end',
      [undefined, '{"end":true,"keys":0}', '{"end":true,"keys":0}'],
      'lines[2]',
    ],
    ['a second head', [undefined, undefined], 'lines[1]'],
    ['a bad key', [undefined, '{"key":"","seq":1}'], 'lines[1].key'],
    [
      'a bad count',
      [undefined, '{"key":"a","seq":1,"priority":0,"why":"add","laterWhy":"add","failures":-1}'],
      'lines[1].failures',
    ],
    ['nothing', [], 'lines'],
    ['what is no string', [undefined, 5 as never], 'lines[1]'],
    ['a count that no store can keep', [undefined, '{"end":true,"keys":0.5}'], 'lines[1].keys'],
    ...[2 ** 52 + 1, 2 ** 53, 1e300, -1, 1.5].map(
      (token) =>
        [
          `a last token of ${token}`,
          [`${head.slice(0, -1)},"lastToken":${token}}`],
          lastToken,
        ] as const,
    ),
    ...[1e300, 2 ** 53, 2 ** 52 + 1, -1, 0.5].map(
      (seq) => [`a seq of ${seq}`, [undefined, row({ seq })], 'lines[1].seq'] as const,
    ),
    ...['dueAt', 'laterAt', 'readyAt', 'askedAt', 'failedAt'].map(
      (at) =>
        [
          `an instant beyond all dates, ${at}`,
          [undefined, row({ [at]: 9e15 })],
          `lines[1].${at}`,
        ] as const,
    ),
    [
      'an item that is too long',
      [undefined, row({ item: `"${'x'.repeat(2 ** 20)}"` })],
      'lines[1].item',
    ],
    ['an item that is no JSON', [undefined, row({ item: '{' })], 'lines[1].item'],
    ['a trace that is none', [undefined, row({ trace: '00-0' })], 'lines[1].trace'],
    [
      'an error that is too long',
      [undefined, row({ lastError: 'x'.repeat(5_000) })],
      'lines[1].lastError',
    ],
    [
      'a bucket that fills backwards',
      [undefined, bucket({ perSecond: -1 })],
      'lines[1].bucket.perSecond',
    ],
    ['a bucket without a name', [undefined, bucket({ name: 1 })], 'lines[1].bucket.name'],
    ['a priority that is none', [undefined, row({ priority: 1_001 })], 'lines[1].priority'],
    ['a bucket of parts', [undefined, bucket({ burst: 0.5 })], 'lines[1].bucket.burst'],
    [
      'a bucket with more than it holds',
      [undefined, bucket({ tokens: 6 })],
      'lines[1].bucket.tokens',
    ],
    ['a bucket of no time', [undefined, bucket({ at: 1e300 })], 'lines[1].bucket.at'],
  ] as [string, (string | undefined)[], string][])(
    '%s is refused, naming the line',
    async (_name, lines, parameter) => {
      const queue = createQueue({ name: 'q', driver: make() })
      const [first = ''] = await collect(exportQueue(queue))
      const given = lines.map((line) => line ?? first)
      await expect(importQueue(queue, given)).rejects.toMatchObject({
        code: 'ERR_INVALID_INPUT',
        parameter,
      })
      expect(await queue.len()).toBe(0)
      await queue.close()
    },
  )
})

test.each([undefined, null, 5, {}, true])('lines that are %o are refused', async (lines) => {
  const queue = createQueue({})
  await expect(importQueue(queue, lines as never)).rejects.toMatchObject({
    code: 'ERR_INVALID_INPUT',
    parameter: 'lines',
  })
  await queue.close()
})

test.each([
  [1, '', /the last line is missing; 1 key came, and is imported/],
  [2, '', /the last line is missing; 2 keys came, and are imported/],
  [2, '{"end":true,"keys":1}', /its last line counts 1 key; 2 keys came, and are imported/],
  [1, '{"end":true,"keys":2}', /its last line counts 2 keys; 1 key came, and is imported/],
])('of %i keys, with the end "%s", an import says what came', async (many, end, message) => {
  await using queue = createQueue<string>({})
  const rows = Array.from({ length: many }, (_, at) => row({ key: `${at}` }))
  const lines = [head.replace('}', ',"lastToken":1}'), ...rows, end]
  await expect(importQueue(queue, lines)).rejects.toThrow(message)
  expect(await queue.len()).toBe(many)
})

test('a store that does not answer does not keep an export or an import waiting', async () => {
  const silent = (name: string) =>
    // real time: so is timeoutMs.
    createQueue({
      name: 'q',
      driver: around(memoryDriver(), name, () => new Promise(() => {})),
      timeoutMs: 20,
    })
  for (const name of ['lastToken', 'buckets', 'list']) {
    await using queue = silent(name)
    await expect(collect(exportQueue(queue))).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
  }
  for (const name of ['raiseTokens', 'importBuckets', 'importRows']) {
    await using queue = silent(name)
    const lines = [
      head.replace('}', ',"lastToken":1}'),
      bucket({}),
      row({}),
      '{"end":true,"keys":1}',
    ]
    await expect(importQueue(queue, lines)).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  }
})

test('an add that was accepted before the export is in it, though it is answered later', async () => {
  const store = sqliteDriver({ file: emptyFile(), durability: 'process' })
  const { promise: mayAdd, resolve: letAdd } = Promise.withResolvers<void>()
  const add: Driver['add'] = async (...asked) => {
    await mayAdd
    return await store.add(...asked)
  }
  const driver = new Proxy(store, {
    get(_, property) {
      const value = property === 'add' ? add : (Reflect.get(store, property, store) as unknown)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
  await using queue = createQueue<string>({ name: 'q', driver })
  queue.addSoon('a')
  const exporting = collect(exportQueue(queue))
  // An export that does not wait for the add reads the file in the first of these turns.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  letAdd()
  expect((await exporting)[1]).toContain('{"key":"a"')
})
