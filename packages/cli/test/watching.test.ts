import { nextTurn } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { createQueue } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Context } from '../src/context.ts'
import { readQueues } from '../src/rows/queue-rows.ts'
import { repeatedReads } from '../src/rows/repeated-reads.ts'
import type { Terminal } from '../src/terminal.ts'
import { cli, output } from './cli.ts'
import { driverOf, workOn } from './queues.ts'
import { newFile, storeKinds } from './stores.ts'
import { Watch } from './watch.ts'

describe.each(storeKinds())('--watch on $kind', ({ fresh }) => {
  test('prints rows again that have changed, and ends with 130 when it is interrupted', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a', 'b'], { store })
    const watch = new Watch(['ls', 'orders', '-w'], store)
    expect(await watch.next()).toMatch(/^KEY.*\na +ready.*\nb +ready.*\n$/)
    expect(await watch.next(2_000)).toBe('')
    await output(['park', 'orders', 'b'], { store })
    expect(await watch.next(2_000)).toMatch(/^b +parked.*\n$/)
    await output(['remove', 'orders', 'a'], { store })
    expect(await watch.next(2_000)).toBe('')
    expect(await watch.interrupt()).toMatchObject({ code: 130, err: 'a is gone\n' })
  })

  test('gives a line of JSON for each change', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a'], { store })
    const watch = new Watch(['get', 'orders', 'a', '-w', '-o', 'json'], store)
    expect(JSON.parse(await watch.next())).toMatchObject({
      event: 'row',
      row: { queue: 'orders', key: 'a', state: 'ready' },
    })
    await output(['remove', 'orders', 'a'], { store })
    expect(JSON.parse(await watch.next(2_000))).toEqual({ event: 'gone', name: 'a' })
    await watch.interrupt()
  })

  test('reads at the given interval', async () => {
    const store = await fresh()
    const watch = new Watch(['queues', '--watch', '--interval', '30s'], store)
    expect(await watch.both()).toEqual({ out: '', err: 'no queues in this store\n' })
    expect(await watch.both(30_000)).toEqual({ out: '', err: '' })
    await output(['add', 'orders', 'a'], { store })
    expect(await watch.next(29_000)).toBe('')
    expect(await watch.next(1_000)).toMatch(/orders +\S*no workers\S* +1 /)
    await watch.interrupt()
    const busy = new Watch(['ls', 'orders', '--watch', '--interval', '1ms'], store)
    await busy.next()
    await output(['add', 'orders', 'b'], { store })
    expect(await busy.next(99)).toBe('')
    expect(await busy.next(1)).toMatch(/^b +ready/)
    await busy.interrupt()
  })

  test('leases of a queue that is made while they are watched are shown', async () => {
    const store = await fresh()
    const watch = new Watch(['leases', '-w', '-o', 'name'], store)
    expect(await watch.next()).toBe('')
    const queue = createQueue<string>({ name: 'later', driver: await driverOf(store) })
    onTestFinished(() => queue.close())
    await queue.add('a')
    await queue.get()
    expect(await watch.next(2_000)).toBe('later/a\n')
    await watch.interrupt()
  })

  test('a key with a slash is not taken for one of another queue', async () => {
    const store = await fresh()
    const driver = await driverOf(store)
    const outer = createQueue<string>({ name: 'a', driver })
    const inner = createQueue<string>({ name: 'a/b', driver })
    onTestFinished(async () => {
      await outer.close()
      await inner.close()
    })
    await outer.add('b/c')
    await outer.get()
    const watch = new Watch(['leases', '-w', '--fields', 'queue,key'], store)
    expect(await watch.next()).toBe('a\tb/c\n')
    await inner.add('c')
    await inner.get()
    expect(await watch.next(2_000)).toBe('a/b\tc\n')
    expect(await watch.next(2_000)).toBe('')
    await watch.interrupt()
  })

  test('workers are watched, with their work', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'a', 'b', 'c'], { store })
    // A queue without any keys is not on the list of all.
    await output(['add-after', 'orders', '1h', 'later'], { store })
    await workOn(store, 'orders', () => {})
    // A worker is on the list some time after it has begun; the watch says when.
    const seen = new AbortController()
    const { out } = await cli(['workers', '--no-headers', '-w', '--interval', '100ms'], {
      store,
      closed: seen.signal,
      onOut: () => seen.abort(),
    })
    expect(out).toMatch(/^orders +\S+ +\S+ +\d+ +\S+\/2 .* +\d+s ago +\d+s$/m)
    const top = await output(['top', '--once'], { store })
    expect(top).toMatch(/^QUEUE +STATE +READY .*RUNS\/S +FAILED +WAIT P95 +WORK P95 +BUSY\norders /)
  })
})

test('drain shows progress, and ends when no key is ready or held', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a', 'b'], { store })
  const watch = new Watch(['drain', 'orders'], store, true)
  await watch.next()
  await watch.next(2_000)
  await output(['pause', 'orders'], { store })
  await watch.next(2_000)
  await watch.next(2_000)
  await output(['purge', 'orders', '--yes'], { store })
  await watch.clock.step(2_000)
  const { code, out, err } = await watch.ended
  expect({ code, out }).toEqual({ code: 0, out: 'orders is drained\n' })
  expect(err).toContain('orders: 2 ready, 0 held')
  // Each once, though it was so at two reads.
  expect(err.match(/orders has no workers: no key runs until one is started/g)).toHaveLength(1)
  expect(err.match(/orders is paused: ready keys stay ready until it is resumed/g)).toHaveLength(1)
})

test('drain that is interrupted does not say that the queue is drained', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const watch = new Watch(['drain', 'orders'], store, true)
  await watch.next()
  const { code, out } = await watch.interrupt()
  expect({ code, out }).toEqual({ code: 130, out: '' })
})

test('drain waits for a key that is held, also once it was added again', async () => {
  const store = newFile()
  const queue = createQueue<string>({ name: 'orders', driver: await driverOf(store) })
  onTestFinished(() => queue.close())
  await queue.add('a')
  const held = await queue.get()
  const watch = new Watch(['drain', 'orders'], store, true)
  await watch.next()
  await queue.add('a')
  await watch.next(2_000)
  await held?.done()
  await watch.next(2_000)
  await queue.inspect.remove('a')
  await watch.clock.step(2_000)
  const { out, err } = await watch.ended
  expect(out).toBe('orders is drained\n')
  const steps = [...err.matchAll(/orders: (\d ready, \d held)/g)].map(([, counts]) => counts)
  expect(steps).toEqual(['0 ready, 1 held', '0 ready, 1 held', '1 ready, 0 held'])
})

test('the keys of a whole queue are watched, not printed once', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const watch = new Watch(['ls', 'orders', '--all', '-w', '-o', 'name'], store)
  expect(await watch.next()).toBe('a\n')
  await output(['add', 'orders', 'b'], { store })
  expect(await watch.next(2_000)).toBe('b\n')
  await watch.interrupt()
})

test('top prints once where it is told to, or cannot draw, the most urgent queue first', async () => {
  const store = newFile()
  for (const name of ['c', 'a']) await output(['add-after', name, '1h', 'later'], { store })
  await output(['add', 'b', 'ready'], { store })
  const first = async (argv: string[], TERM: string): Promise<readonly (string | undefined)[]> => {
    const out = await output(['top', '--no-headers', ...argv], {
      store,
      isTTY: true,
      env: { TERM },
    })
    return out.split('\n').map((line) => line.split(' ')[0])
  }
  expect(await first(['--once'], 'xterm')).toEqual(['b', 'a', 'c', ''])
  expect(await first([], 'dumb')).toEqual(['b', 'a', 'c', ''])
})

test('top draws over itself on a terminal, and puts the terminal back', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const watch = new Watch(['top'], store, true)
  const first = await watch.next()
  expect(first.startsWith('\u001b[?1049h\u001b[?25l\u001b[Hsqlite:')).toBe(true)
  expect(first).toMatch(/Hsqlite:.+ {3}\d{4}-\S+ \S+Z {3}every 2\.0s/)
  expect(first).toMatch(/orders +\S*no workers\S* +1 /)
  await output(['add', 'orders', 'b'], { store })
  const second = await watch.next(2_000)
  expect(second.startsWith('\u001b[H')).toBe(true)
  expect(second).toMatch(/orders +\S*no workers\S* +2 /)
  const { code, out } = await watch.interrupt()
  expect(code).toBe(130)
  expect(out.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
})

test.each(['first', 'second'])(
  'a watch ends while the store does not answer its %s read',
  async (nth) => {
    const clock = fakeClock()
    const until = new AbortController()
    const terminal = { clock } as unknown as Terminal
    const input = { durationMs: () => undefined } as unknown as Context['input']
    let reads = 0
    const read = async (): Promise<number> => {
      reads += 1
      if (nth === 'second' && reads === 1) return reads
      nextTurn(() => until.abort())
      return await new Promise(() => {})
    }
    const found: number[] = []
    const watching = (async () => {
      const context = { terminal, input } as unknown as Context
      for await (const each of repeatedReads(context, until.signal, read)) found.push(each)
    })()
    if (nth === 'second') {
      await clock.waitForWaiters(1)
      await clock.step(2_000)
    }
    await watching
    expect(found).toEqual(nth === 'second' ? [1] : [])
  },
)

test('a key changes the screen of top at once, and q ends it', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  await output(['add', 'users', 'a'], { store })
  const watch = new Watch(['top'], store, true)
  expect(await watch.next()).toMatch(/orders.*users/s)
  for (const key of '/use\r') watch.pressed?.(key)
  const filtered = await watch.next()
  expect(filtered.split('\u001b[H').at(-1)).toMatch(/users/)
  expect(filtered.split('\u001b[H').at(-1)).not.toMatch(/orders/)
  watch.pressed?.('q')
  const { code, err, out } = await watch.ended
  expect({ code, err, pressed: watch.pressed }).toEqual({ code: 0, err: '', pressed: undefined })
  expect(out.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
})

test('a watch ends quietly when its reader has gone', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const closed = new AbortController()
  const ended = cli(['queues', '-w'], {
    store,
    closed: closed.signal,
    onOut: () => closed.abort(),
  })
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

test('reading many queues leaves turns in which an interruption takes effect', async () => {
  const names = Array.from({ length: 400 }, (_, index) => `q${index}`)
  const interruption = new AbortController()
  const answer = async (name: string): Promise<string> => name
  setImmediate(() => setImmediate(() => interruption.abort()))
  const { read } = await readQueues(names, answer, interruption.signal)
  expect(read).toEqual(names.slice(0, read.length))
  expect(read.length).toBeLessThan(400)
  expect(await readQueues(names, answer)).toEqual({ read: names, unread: [] })
})
