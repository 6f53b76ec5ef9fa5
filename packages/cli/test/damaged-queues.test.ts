/** Commands about every queue of a Redis, of which some cannot be read. */
import { type Driver, never, SluiceError } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { createRateLimitingQueue, createWorker, inspectStore } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failures } from '../src/commands/inspect/failures.ts'
import type { Context } from '../src/context.ts'
import { Input } from '../src/input.ts'
import { Printer } from '../src/output/printer.ts'
import { queueRows } from '../src/rows/queue-rows.ts'
import { StoreEvents } from '../src/rows/store-events.ts'
import type { Terminal } from '../src/terminal.ts'
import { cli, output } from './cli.ts'
import { driverOf } from './queues.ts'
import { newFile } from './stores.ts'
import { Watch } from './watch.ts'

let server: RedisProcess
let made = 0

beforeAll(async () => {
  if (hasRedis) server = await startRedis()
})
afterAll(async () => {
  if (hasRedis) await server.dispose()
})

/** A store with the queues a, b and c, each of which has a worker and a key that it holds. */
async function newStore(): Promise<{ store: string; partOf: (q: string, part: string) => string }> {
  made += 1
  const prefix = `damaged${made}:`
  const store = `${server.url}?prefix=${prefix}`
  const driver = await driverOf(store)
  await driver.open({})
  for (const queue of ['a', 'b', 'c']) {
    await output(['add', queue, 'key'], { store })
    const holder = `${queue}-worker`
    await driver.tick(queue, {
      ...{ holder, limit: 1, failuresExpireMs: never },
      worker: { holder, host: 'h', pid: 7, concurrency: 2, settings: {} },
    })
    await driver.claim(queue, { holder, limit: 1, claimId: 'c', leaseMs: 3_600_000 })
  }
  await driver.close()
  return { store, partOf: (queue, part) => `${prefix}{${queue}}:${part}` }
}

const kinds = [
  {
    kind: 'of which a part was deleted',
    words: / the queue b is missing: .*, or purge the queue \[ERR_STORE_DAMAGED\]; run `sluice doc/,
    code: 'ERR_STORE_DAMAGED',
    damage: (meta: string) => server.command('RENAME', meta, `${meta}-kept`),
    repair: (meta: string) => server.command('RENAME', `${meta}-kept`, meta),
    // They need nothing of that part.
    reads: ['workers', 'leases'] as readonly string[],
  },
  {
    kind: 'that another program has written over',
    words: / the Redis key damaged\d+:\{b\}:meta: delete it \[ERR_STORE_DAMAGED\]; run `sluice doc/,
    code: 'ERR_STORE_DAMAGED',
    async damage(meta: string) {
      await server.command('RENAME', meta, `${meta}-kept`)
      await server.command('SET', meta, 'another')
    },
    repair: (meta: string) => server.command('RENAME', `${meta}-kept`, meta),
    reads: [] as readonly string[],
  },
  {
    kind: 'that a newer version has stored',
    words: /queue b is stored with layout 2, .*\[ERR_SCHEMA_NEWER\]; install a newer @sluice\/cli/,
    code: 'ERR_SCHEMA_NEWER',
    damage: (meta: string) => server.command('HSET', meta, 'version', '2'),
    repair: (meta: string) => server.command('HSET', meta, 'version', '1'),
    reads: [] as readonly string[],
  },
]

describe.skipIf(!hasRedis).each(kinds)(
  'a queue $kind',
  ({ words, code, damage, repair, reads }) => {
    test('does not hide the others, and the command fails after them', async () => {
      const { store, partOf } = await newStore()
      await damage(partOf('b', 'meta'))
      for (const line of ['queues', 'top --once', 'events', 'workers', 'leases']) {
        if (reads.includes(line)) continue
        const table = await cli(line.split(' '), { store })
        expect(table.code, line).toBe(1)
        expect(table.out.match(/\b[abc](?= {3})/g)?.sort(), line).toEqual(['a', 'c'])
        expect(table.err).toMatch(words)
        expect(table.err).toMatch(/^sluice: .*\n$/)
        const document = await cli([...line.split(' '), '-o', 'json'], { store })
        const [[, rows = []] = []] = Object.entries(
          JSON.parse(document.out) as Record<string, { queue: string }[]>,
        )
        expect(rows.map(({ queue }) => queue).sort(), line).toEqual(['a', 'c'])
        expect(document.code).toBe(1)
        expect(JSON.parse(document.err)).toMatchObject({ error: { code, exitCode: 1 } })
      }
    })

    test('is reported with each other one, and is the error where none can be read', async () => {
      const { store, partOf } = await newStore()
      for (const queue of ['b', 'c']) await damage(partOf(queue, 'meta'))
      const { out, err } = await cli(['queues', '--no-headers'], { store })
      expect(out).toMatch(/^a .*\n$/)
      expect(err).toMatch(/^sluice: .*queue b .*\nsluice: .*queue c .*\n$/)
      await damage(partOf('a', 'meta'))
      for (const line of ['queues', 'top --once', 'events']) {
        const all = await cli(line.split(' '), { store })
        expect(all).toMatchObject({ code: 1, out: '' })
        expect(all.err).toMatch(/^sluice: .*queue a .*\n$/)
      }
    })

    test('is named once by a watch, which goes on', async () => {
      const { store, partOf } = await newStore()
      const queues = new Watch(['queues', '-w', '--no-headers'], store)
      const rows = new Watch(['queues', '-w', '-o', 'json'], store)
      const events = new Watch(['events', '-f', '--no-headers'], store)
      const top = new Watch(['top'], store, true)
      const all = [queues, rows, events, top]
      for (const watch of all) await watch.next()
      await damage(partOf('b', 'meta'))
      for (const watch of [queues, rows, events]) {
        const { out, err } = await watch.both(2_000)
        // Neither is it gone.
        expect(out).toBe('')
        expect(err).toMatch(words)
        expect(err).toMatch(/^warning: .*\n$/)
      }
      for (let read = 0; read < 2; read += 1) {
        const screen = await top.both(2_000)
        expect(screen.out).toMatch(words)
        expect(screen.out).not.toMatch(/\nb /)
        expect(screen.err).toBe('')
      }
      await output(['pause', 'c'], { store })
      for (const watch of [queues, rows, events, top]) {
        const { out, err } = await watch.both(2_000)
        expect(out).toMatch(/\bc\b.*paused/)
        expect(err).toBe('')
      }
      await damage(partOf('a', 'meta'))
      for (const watch of [queues, rows, events]) {
        expect((await watch.both(2_000)).err).toMatch(/^warning: .*queue a .*\n$/)
      }
      expect((await top.both(2_000)).out).toMatch(/queue a .*; 1 more queue cannot be read/)
      await repair(partOf('a', 'meta'))
      await repair(partOf('b', 'meta'))
      expect((await queues.both(2_000)).out).toMatch(/^a .*\nb .*\n$/)
      expect(await rows.next(2_000)).toMatch(/^\{"event":"row",.*"a".*\n\{"event":"row",.*"b".*\n$/)
      expect(await events.both(2_000)).toEqual({ out: '', err: '' })
      expect(await top.next(2_000)).not.toMatch(words)
      await damage(partOf('b', 'meta'))
      expect((await queues.both(2_000)).err).toMatch(words)
      for (const watch of all) expect((await watch.interrupt()).code).toBe(130)
    })
  },
)

test.skipIf(!hasRedis).each([
  ['copy', 'copied'],
  ['move', 'moved'],
])('a %s goes on after a queue that cannot be read, and then fails', async (verb, done) => {
  const { store, partOf } = await newStore()
  for (const queue of ['a', 'b', 'c']) await output(['release', queue, 'key', '--yes'], { store })
  await server.command('HSET', partOf('b', 'meta'), 'version', '2')
  const to = newFile()
  const { code, out, err } = await cli([verb, store, to])
  expect({ code, out }).toEqual({ code: 1, out: `a: 1 key ${done}\nc: 1 key ${done}\n` })
  expect(err).toMatch(/^sluice: queue b is stored with layout 2, .*\n$/)
  const keys = verb === 'move' ? 0 : 1
  const document = await cli([verb, store, to, 'b', 'c', '-o', 'json'])
  expect(JSON.parse(document.out)).toEqual({ queues: [{ queue: 'c', [done]: keys }] })
  expect(document.code).toBe(1)
  const none = await cli([verb, store, to, 'b'])
  expect(none).toMatchObject({ code: 1, out: '' })
  expect(none.err).toMatch(/^sluice: queue b is stored with layout 2, .*\n$/)
})

describe('a queue that cannot be read', () => {
  /** A store of whose queue b a part cannot be read until it is repaired. */
  function failing(verb: 'counts' | 'failedRuns', code: 'ERR_STORE_DAMAGED' | 'ERR_STORE') {
    const driver: Driver = memoryDriver()
    let isFailing = true
    const whole = driver[verb]?.bind(driver) as (queue: string, ...rest: unknown[]) => unknown
    Object.assign(driver, {
      [verb](queue: string, ...rest: unknown[]) {
        if (isFailing && queue === 'b') throw new SluiceError(code, 'b fails')
        return whole(queue, ...rest)
      },
    })
    const repair = (): void => {
      isFailing = false
    }
    return { driver, repair }
  }

  test('since its store does not answer fails the whole read', async () => {
    await using inspection = inspectStore(failing('counts', 'ERR_STORE').driver)
    for (const queue of ['a', 'b']) await inspection.add(queue, { key: 'key' })
    await expect(queueRows(inspection)).rejects.toMatchObject({ code: 'ERR_STORE' })
  })

  test.each([{}, { code: 'ECONN' }])(
    'fails failures after the others, with %o',
    async (options) => {
      const { driver } = failing('failedRuns', 'ERR_STORE_DAMAGED')
      await using inspection = inspectStore(driver)
      for (const name of ['a', 'b']) {
        const queue = createRateLimitingQueue<string>({ name, driver })
        const worker = createWorker({
          queue,
          maxFailures: 1,
          onError: () => undefined,
          handler: () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONN' })),
        })
        await queue.add('key')
        await worker.runUntilIdle()
        await queue.close()
      }
      let printed = ''
      const write = (text: string): void => {
        printed += text
      }
      const stdout = {
        isTTY: false,
        columns: undefined,
        closed: new AbortController().signal,
        write,
      }
      const terminal = { stdout, stderr: stdout, env: {} } as unknown as Terminal
      const context = {
        input: new Input([], options),
        print: new Printer(terminal, { format: 'table', headers: false, colours: false }),
        store: async () => ({ inspection }),
      } as unknown as Context
      await expect(failures.run(context)).rejects.toMatchObject({
        errors: [{ code: 'ERR_STORE_DAMAGED' }],
      })
      expect(printed).toMatch(/^a .*away\n$/)
    },
  )

  test('at the first look has no events of before when it can be read', async () => {
    const { driver, repair } = failing('counts', 'ERR_STORE_DAMAGED')
    await using inspection = inspectStore(driver)
    for (const queue of ['a', 'b']) {
      await inspection.add(queue, { key: 'key' })
      await inspection.queue(queue).park('key')
    }
    const source = new StoreEvents(inspection, undefined)
    const events = async () => (await source.next()).map(({ queue, event }) => `${queue} ${event}`)
    for (let look = 0; look < 2; look += 1) {
      expect(await events()).toEqual([])
      expect(source.unread).toMatchObject([{ queue: 'b', error: { code: 'ERR_STORE_DAMAGED' } }])
    }
    repair()
    expect(await events()).toEqual([])
    expect(source.unread).toEqual([])
    await inspection.queue('b').pause()
    expect(await events()).toContain('b paused')
  })
})
