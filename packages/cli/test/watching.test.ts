import { describe, expect, test } from 'vitest'
import { readQueues } from '../src/rows/queue-rows.ts'
import { cli, output } from './cli.ts'
import { workOn } from './queues.ts'
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
    expect(await watch.next()).toBe('')
    await output(['add', 'orders', 'a'], { store })
    expect(await watch.next(29_000)).toBe('')
    expect(await watch.next(1_000)).toMatch(/orders +\S*no workers\S* +1 /)
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
  await output(['pause', 'orders'], { store })
  await watch.next(2_000)
  await output(['purge', 'orders', '--yes'], { store })
  await watch.clock.step(2_000)
  const { code, out, err } = await watch.ended
  expect({ code, out }).toEqual({ code: 0, out: 'orders is drained\n' })
  expect(err).toContain('orders: 2 ready, 0 held')
  expect(err).toContain('orders has no workers: no key runs until one is started')
  expect(err).toContain('orders is paused: ready keys stay ready until it is resumed')
})

test('top draws over itself on a terminal, and puts the terminal back', async () => {
  const store = newFile()
  await output(['add', 'orders', 'a'], { store })
  const watch = new Watch(['top'], store, true)
  const first = await watch.next()
  expect(first.startsWith('\u001b[?1049h\u001b[?25l\u001b[Hsqlite:')).toBe(true)
  expect(first).toMatch(/orders +\S*no workers\S* +1 /)
  await output(['add', 'orders', 'b'], { store })
  const second = await watch.next(2_000)
  expect(second.startsWith('\u001b[H')).toBe(true)
  expect(second).toMatch(/orders +\S*no workers\S* +2 /)
  const { code, out } = await watch.interrupt()
  expect(code).toBe(130)
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
  const read = await readQueues(names, answer, interruption.signal)
  expect(read).toEqual(names.slice(0, read.length))
  expect(read.length).toBeLessThan(400)
  expect(await readQueues(names, answer)).toEqual(names)
})
