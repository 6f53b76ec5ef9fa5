import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import { inspectStore, memoryDriver } from 'sluice'
import { expect, test } from 'vitest'
import { queues as queuesCommand } from '../src/commands/inspect/queues.ts'
import { refuseUnknown } from '../src/stores/known-queue.ts'
import { cli, json, output, scratchFolder } from './cli.ts'
import { newFile } from './stores.ts'

async function withOrders(): Promise<string> {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  return store
}

test.each([
  [['pause', 'ordrs']],
  [['resume', 'ordrs']],
  [['purge', 'ordrs', '--yes']],
  [['drain', 'ordrs']],
  [['ls', 'ordrs']],
  [['get', 'ordrs', 'a']],
  [['explain', 'ordrs', 'a']],
  [['counts', 'ordrs']],
  [['describe', 'ordrs']],
  [['leases', 'ordrs']],
  [['failures', 'ordrs']],
  [['workers', 'ordrs']],
  [['events', 'ordrs']],
  [['export', 'ordrs']],
  [['copy', '$STORE', './other.db', 'ordrs']],
  [['move', '$STORE', './other.db', 'ordrs']],
  [['top', 'ordrs', '--once']],
  [['park', 'ordrs', 'a']],
  [['release', 'ordrs', 'a']],
  [['remove', 'ordrs', '--all', '--yes']],
])('%j is refused, with the name that was meant, and makes no queue', async (argv) => {
  const store = await withOrders()
  const cwd = scratchFolder()
  const given = argv.map((word) => word.replace('$STORE', store))
  const { code, out, err } = await cli(given, { store, cwd })
  expect({ code, out }).toEqual({ code: 4, out: '' })
  expect(err).toMatch(
    /^sluice: there is no queue ordrs: .*; did you mean orders\? \(--force .*\) \[ERR_NOT_FOUND\]\n$/,
  )
  expect(await output(['queues', '-o', 'name'], { store })).toBe('orders\n')
})

test('of several queues none is changed if one is unknown', async () => {
  const store = await withOrders()
  expect((await cli(['pause', 'orders', 'ordrs'], { store })).code).toBe(4)
  expect(await output(['queues', '--no-headers'], { store })).toMatch(/^orders +no workers /)
})

test('--force makes a queue, such as one that is to be paused before its first key', async () => {
  const store = await withOrders()
  expect(await output(['pause', 'mails', '--force'], { store })).toBe('mails paused\n')
  expect(await output(['queues', '-o', 'name'], { store })).toBe('mails\norders\n')
})

test('with -o json an error is a document of one line on stderr', async () => {
  const store = await withOrders()
  const unknown = await cli(['ls', 'ordrs', '-o', 'json'], { store })
  expect(unknown.out).toBe('')
  expect(JSON.parse(unknown.err)).toEqual({
    error: { code: 'ERR_NOT_FOUND', message: expect.stringContaining('orders'), exitCode: 4 },
  })
  const usage = await cli(['ls', '-o', 'json', '--nonsense'], { store })
  expect(JSON.parse(usage.err)).toMatchObject({ error: { code: 'ERR_USAGE', exitCode: 2 } })
  const missing = await cli(['queues', '-ojson', '-s', 'sqlite:/nowhere/q.db'])
  expect(JSON.parse(missing.err)).toMatchObject({ error: { code: 'ERR_STORE', exitCode: 1 } })
})

test('counts stop at a cap unless they are exact', async () => {
  const store = newFile()
  const stdin = Array.from({ length: 10_050 }, (_, at) => `order/${at}`)
  await output(['add', 'orders', '--stdin'], { store, stdin })
  expect(await output(['counts', 'orders'], { store })).toMatch(/^ready +10000\+$/m)
  expect(await output(['describe', 'orders'], { store })).toMatch(
    /^ {2}keys +10000\+ ready, 0 delayed/m,
  )
  const exact = await json(['counts', 'orders', '--exact'], { store })
  expect(exact).toMatchObject({ queue: 'orders', capped: false, counts: { ready: 10_050 } })
  const purge = await cli(['purge', 'orders'], { store })
  expect(purge.err).toContain('This will remove 10000 or more keys of orders.')
})

test('all queues of a store are only read for a name that has no keys and is not paused', async () => {
  const driver = memoryDriver()
  const store = inspectStore(driver)
  await store.add('orders', { key: 'a' })
  await store.queue('paused').pause()
  const { queues, counts } = driver
  driver.queues = () => Promise.reject(new Error('too many'))
  const refuse = (...names: string[]) =>
    refuseUnknown({ input: { flag: () => false } as never }, store, names)
  await refuse('orders', 'paused')
  await expect(refuse('orders', 'ordrs')).rejects.toThrow('too many')
  // A damaged queue is there, for the command that purges it.
  driver.counts = () => Promise.reject(new SluiceError('ERR_STORE_DAMAGED', 'damaged'))
  await refuse('orders')
  driver.counts = () => Promise.reject(new SluiceError('ERR_STORE', 'away'))
  await expect(refuse('orders')).rejects.toThrow('away')
  Object.assign(driver, { queues, counts })
  await store.close()
})

test('the names of all queues are listed without reading each of them', async () => {
  const notes: string[] = []
  const listed = async (...names: string[]): Promise<void> => {
    const store = { queues: async () => names, queue: () => assert.fail('a queue is read') }
    await queuesCommand.run({
      input: { flag: () => false },
      print: {
        format: 'name',
        isDocument: false,
        names: async (all: readonly string[]) => void notes.push(...all),
        note: async (text: string) => void notes.push(`note: ${text}`),
      },
      store: async () => ({ inspection: store }),
    } as never)
  }
  await listed('mails', 'orders')
  await listed()
  expect(notes).toEqual(['mails', 'orders', 'note: no queues in this store'])
})
