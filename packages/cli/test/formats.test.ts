import { join } from 'node:path'
import { createQueue } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { Interrupted } from '../src/index.ts'
import { cli, json, output, scratchFolder } from './cli.ts'
import { driverOf } from './queues.ts'
import { newFile } from './stores.ts'
import { Watch } from './watch.ts'

/** A file with the key `a` in the queue `orders`, which a holder has. */
async function withHeldKey(): Promise<string> {
  const store = newFile()
  const queue = createQueue<string>({ name: 'orders', driver: await driverOf(store) })
  onTestFinished(() => queue.close())
  await queue.add('a')
  await queue.get()
  return store
}

/** A file with the queue `orders`, of which no key is left to work on. */
async function drained(): Promise<string> {
  const store = newFile()
  await output(['add-after', 'orders', '1h', 'later'], { store })
  return store
}

test.each([
  [['add', 'orders', 'b', 'c'], 'b\nc\n'],
  [['add-after', 'orders', '1h', 'b', 'c'], 'b\nc\n'],
  [['release', 'orders', 'a'], 'a\n'],
  [['pause', 'orders'], 'orders\n'],
  [['resume', 'orders'], 'orders\n'],
])('-o name of %j prints names', async (argv, names) => {
  const store = await withHeldKey()
  expect(await output([...argv, '-o', 'name'], { store })).toBe(names)
})

test('the documents of what adds, waits, releases and migrates say what was done', async () => {
  const store = await withHeldKey()
  expect(await json(['add', 'orders', 'a', '--item', '{"id":1}'], { store: newFile() })).toEqual({
    queue: 'orders',
    results: [{ key: 'a', outcome: 'added' }],
  })
  expect(await json(['wait', 'orders'], { store: await drained() })).toEqual({
    queue: 'orders',
    drained: true,
  })
  expect(await json(['release', 'orders', 'a'], { store })).toEqual({
    queue: 'orders',
    verb: 'release',
    results: [{ key: 'a', outcome: 'changed' }],
  })
  expect(await json(['migrate'], { store })).toEqual({ store, upToDate: true })
})

test('the document of a dashboard has its address, and the one that signs in', async () => {
  const interruption = new AbortController()
  const { out } = await cli(['dashboard', '--allow-actions', '-o', 'json'], {
    store: await withHeldKey(),
    interrupted: interruption.signal,
    onOut: () => interruption.abort(new Interrupted('SIGINT')),
  })
  const { url, openUrl } = JSON.parse(out) as { url: string; openUrl: string }
  expect(openUrl).toMatch(new RegExp(`^${url}#sign-in=.{32}`))
})

test('members of events that are followed are printed, an event on each line', async () => {
  const store = await withHeldKey()
  const watch = new Watch(['events', '--follow', '--fields', 'event,queue'], store)
  expect(await watch.next()).toBe('')
  await output(['pause', 'orders'], { store })
  expect(await watch.next(2_000)).toMatch(/^paused\torders$/m)
  await watch.interrupt()
})

test('a wide list of keys names the holder, and a description says that the queue is paused', async () => {
  const store = await withHeldKey()
  const { held } = await json<{ held: { holder: string } }>(['get', 'orders', 'a'], { store })
  expect(await output(['ls', 'orders', '-o', 'wide'], { store })).toContain(` ${held.holder} `)
  expect(await output(['describe', 'orders'], { store })).toMatch(/^orders\n/)
  await output(['pause', 'orders'], { store })
  expect(await output(['describe', 'orders'], { store })).toMatch(/^orders \(paused\)\n/)
})

test('contexts are in the home folder where no variable names another', async () => {
  const folder = scratchFolder()
  const { file } = await json<{ file: string }>(['config'], { env: { HOME: folder } })
  expect(file).toBe(join(folder, '.config/sluice/config.json'))
})
