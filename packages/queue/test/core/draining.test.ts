import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import type { Queue } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import {
  batchedSetups,
  holding,
  late,
  Scene,
  seen,
  setups,
  take,
  unleased,
} from '../support/setups.ts'

describe.each(setups)('shutDownWithDrain over $way', (setup) => {
  test('an empty queue is drained at once', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    expect(drained.state).toBe('resolved')
    expect(queue.shuttingDown).toBe(true)
  })

  test('waits for keys that this object holds', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const helds = await queue.getMany(2)
    const drained = seen(queue.shutDownWithDrain())
    await scene.clock.step(1_000)
    expect(drained.state).toBe('waiting')
    await helds[0]?.done()
    await scene.clock.step(1_000)
    expect(drained.state).toBe('waiting')
    await helds[1]?.done()
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('waits for queued keys, however much time passes', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    const drained = seen(queue.shutDownWithDrain())
    await scene.clock.step(60_000)
    expect(drained.state).toBe('waiting')
    for (const key of ['a', 'b', 'c']) {
      const held = await take(queue)
      expect([held.key, drained.state]).toEqual([key, 'waiting'])
      await scene.clock.step(5)
      await held.done()
      await scene.quiet()
      expect(drained.state).toBe(key === 'c' ? 'resolved' : 'waiting')
    }
  })

  test('waits for a key that is dirty while it drains', async () => {
    const { scene, queue, held } = await holding(setup)
    await queue.add('a')
    const drained = seen(queue.shutDownWithDrain())
    await scene.clock.step(7)
    await held.done()
    await scene.clock.step(7)
    expect(drained.state).toBe('waiting')
    const again = await take(queue)
    await again.done()
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('Shutdown: waits for a key that was released', async () => {
    const { scene, queue, held } = await holding(setup)
    const drained = seen(queue.shutDownWithDrain())
    await scene.clock.step(7)
    await held.release()
    await scene.clock.step(7)
    expect(drained.state).toBe('waiting')
    await (await take(queue)).done()
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('Shutdown: delayed, parked and paused keys do not count', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addMany(['parked', 'retried'])
    const [parked, retried] = await queue.getMany(2)
    await queue.addAfter('delayed', 1)
    const drained = seen(queue.shutDownWithDrain())
    await parked?.park()
    await retried?.retry()
    await scene.quiet()
    expect(drained.state).toBe('resolved')
    expect(await scene.states()).toEqual({
      parked: 'parked',
      retried: 'backoff',
      delayed: 'delayed',
    })
  })

  test('Shutdown: nor do the keys of a paused queue', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await scene.operate.pause('q')
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('Shutdown: nor for keys that others add meanwhile', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const other = scene.queue()
    await queue.add('a')
    const held = await take(queue)
    const drained = seen(queue.shutDownWithDrain())
    await scene.clock.step(1)
    await other.add('new')
    await held.done()
    await scene.clock.step(1)
    expect(drained.state).toBe('resolved')
    expect(await queue.get()).toBe(undefined)
    expect(await scene.states()).toEqual({ new: 'ready' })
  })

  test.each([
    [
      'Shutdown: ends when another queue object takes the last key',
      async (other) => void (await other.get()),
    ],
    [
      'Shutdown: ends when another queue object takes and finishes the last key',
      async (other) => void (await (await other.get())?.done()),
    ],
    [
      'Shutdown: ends when another queue object cancels the last key',
      async (other) => void (await other.cancel('a')),
    ],
    [
      'Shutdown: ends when another queue object parks the last key',
      async (other) => void (await other.inspect.park('a')),
    ],
    [
      'Shutdown: ends when its last key is cancelled',
      async (_, queue) => void (await queue.cancel('a')),
    ],
  ] satisfies [string, (other: Queue<string>, queue: Queue<string>) => Promise<void>][])(
    '%s',
    async (_, end) => {
      const scene = new Scene(setup)
      const queue = scene.queue()
      const other = scene.queue()
      // The first call of each begins to watch the store, which wakes all of them.
      for (const each of [queue, other]) {
        await each.add('before')
        await (await each.get())?.done()
      }
      await queue.add('a')
      const drained = seen(queue.shutDownWithDrain())
      await scene.quiet()
      await end(other, queue)
      await scene.quiet()
      expect(drained.state).toBe('resolved')
    },
  )

  test('Shutdown: nor for keys that others hold', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const other = scene.queue()
    await other.add('a')
    await take(other)
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('Shutdown: keys that others take count as taken', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const other = scene.queue()
    await queue.add('a')
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    expect(drained.state).toBe('waiting')
    await take(other)
    await scene.clock.step(10_000)
    expect(drained.state).toBe('resolved')
  })

  test('all drains end together', async () => {
    const { scene, queue, held } = await holding(setup)
    const drainers = [1, 2, 3].map(() => seen(queue.shutDownWithDrain()))
    await scene.quiet()
    expect(drainers.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting'])
    await held.done()
    await scene.quiet()
    expect(drainers.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved'])
  })

  test('a shutDown during a drain ends all drains', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await take(queue)
    const drainers = [1, 2].map(() => seen(queue.shutDownWithDrain()))
    await scene.quiet()
    await queue.shutDown()
    await scene.quiet()
    expect(drainers.map(({ state }) => state)).toEqual(['resolved', 'resolved'])
    expect(await scene.states()).toEqual({ a: 'processing' })
  })

  test('a drain after a shutDown waits', async () => {
    const { scene, queue, held } = await holding(setup)
    await queue.shutDown()
    const drained = seen(queue.shutDownWithDrain())
    await scene.clock.step(5)
    expect(drained.state).toBe('waiting')
    await held.done()
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('a shutDown together with the last done is not missed', async () => {
    const { scene, queue, held } = await holding(setup)
    const drained = seen(queue.shutDownWithDrain())
    await Promise.all([held.done(), queue.shutDown()])
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('a drain that is aborted rejects with its reason, the others continue', async () => {
    const { scene, queue, held } = await holding(setup)
    const controller = new AbortController()
    const giving = seen(queue.shutDownWithDrain({ signal: controller.signal }))
    const staying = seen(queue.shutDownWithDrain())
    await scene.quiet()
    const reason = new Error('enough')
    controller.abort(reason)
    await scene.quiet()
    expect([giving.error, staying.state]).toEqual([reason, 'waiting'])
    await held.done()
    await scene.quiet()
    expect(staying.state).toBe('resolved')
  })

  test('a drain with a signal that is aborted already changes nothing', async () => {
    const queue = new Scene(setup).queue()
    const reason = new Error('never')
    expect(await refusal(queue.shutDownWithDrain({ signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    )
    expect(queue.shuttingDown).toBe(false)
    expect(await queue.add('a')).toBe('added')
  })

  test('workers and a drain: everything that was due is done when it resolves', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`)
    await queue.addMany(keys)
    const done: string[] = []
    const worker = async (): Promise<void> => {
      for await (const held of queue) {
        await scene.quiet()
        done.push(held.key)
        await held.done()
      }
    }
    const workers = Promise.all([worker(), worker(), worker()])
    await queue.shutDownWithDrain()
    expect(done.length).toBe(20)
    await workers
  })

  test('a waiting drain does not keep asking: time passes without a storm of timers', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    void queue.shutDownWithDrain()
    await scene.quiet()
    const before = scene.clock.waiters()
    await scene.clock.step(600_000)
    expect(scene.clock.waiters()).toBeLessThanOrEqual(before)
    expect((await take(queue)).key).toBe('a')
  })
})

describe.each(batchedSetups)('shutDownWithDrain over $way, on a shared store', (setup) => {
  test('Shutdown: ends within a second after another process has taken the last key', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    const asOther = { limit: 1, holder: 'other', claimId: 'other', leaseMs: 30_000 }
    expect((await scene.inner.claim('q', asOther)).claims).toHaveLength(1)
    await scene.quiet()
    expect(drained.state).toBe('waiting')
    await scene.clock.step(1_000)
    expect(drained.state).toBe('resolved')
  })
})

describe.each([late, unleased])('a drain over $way that cannot be checked', (setup) => {
  test('rejects once, and the store is not asked about it again', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    await held.done()
    const last = await take(queue)
    const broken = new SluiceError('ERR_SCHEMA_NEWER', 'broken for good')
    let asked = 0
    scene.late.before = async ({ verb }) => {
      if (verb !== 'tick') return
      asked += 1
      throw broken
    }
    await last.done()
    await scene.quiet()
    expect([drained.error, asked]).toEqual([broken, 1])
    expect(await queue.get()).toBe(undefined)
    await scene.quiet()
    expect(asked).toBe(1)
    scene.errors = []
  })
})

describe.each([late, unleased])('adds in flight at a shutdown over $way', (setup) => {
  /** A queue with an add that reaches the store only after a while. */
  async function adding(add: (queue: Queue<string>) => unknown) {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.len()
    scene.late.hold('add')
    add(queue)
    const arrive = async (): Promise<void> => {
      await scene.clock.step(5)
      scene.late.letGo('add')
      await scene.quiet()
    }
    return { scene, queue, arrive }
  }

  test('Shutdown: they are handed out, since they were accepted before it', async () => {
    const { queue, arrive } = await adding((it) => void it.addMany(['a', 'b']))
    const shutDown = queue.shutDown()
    await arrive()
    await shutDown
    expect([(await take(queue)).key, (await take(queue)).key]).toEqual(['a', 'b'])
    expect(await queue.get()).toBe(undefined)
  })

  test('Shutdown: a drain waits for them', async () => {
    const { scene, queue, arrive } = await adding((it) => it.addSoon('a'))
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    expect(drained.state).toBe('waiting')
    await arrive()
    expect(drained.state).toBe('waiting')
    await (await take(queue)).done()
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })

  test('Shutdown: it waits for a second add of a key that waits for the first', async () => {
    const { scene, queue } = await adding((it) => {
      it.addSoon('a')
      it.addSoon('a')
    })
    const shutDown = seen(queue.shutDown())
    await scene.quiet()
    scene.late.letGo('add')
    scene.late.hold('add')
    await scene.quiet()
    expect([scene.late.waiting('add'), shutDown.state]).toEqual([1, 'waiting'])
    scene.late.letGo('add')
    await scene.quiet()
    expect(shutDown.state).toBe('resolved')
  })
})
