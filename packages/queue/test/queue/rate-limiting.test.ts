import { exponential, fastSlow, jittered, maxOf, tokenBucket, withMaxWait } from '@sluice/limiters'
import { describe, expect, test } from 'vitest'
import { createRateLimitingQueue, createWorker, type Limiter } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { direct, drainKeys, Scene, setups, take } from '../support/setups.ts'

describe.each(setups)('addRateLimited over $way', (setup) => {
  test('asks for a run after the limiter’s delay, 5 ms doubling by default', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    const delays: number[] = []
    for (let n = 0; n < 5; n += 1) {
      const at = scene.clock.now()
      expect(await queue.addRateLimited('a')).toBe('added')
      const dueAt = (await scene.row('a'))?.dueAt ?? Number.NaN
      delays.push(dueAt - at)
      await scene.clock.step(dueAt - at)
      await (await take(queue)).done()
    }
    expect(delays).toEqual([5, 10, 20, 40, 80])
  })

  test('counts a failure always, whatever the outcome for the key', async () => {
    const queue = new Scene(setup).limited()
    expect(await queue.numRequeues('a')).toBe(0)
    expect(await queue.addRateLimited('a')).toBe('added')
    expect(await queue.addRateLimited('a')).toBe('unchanged')
    await queue.add('a')
    expect(await queue.addRateLimited('a')).toBe('unchanged')
    await take(queue)
    expect(await queue.numRequeues('a')).toBe(3)
    await queue.addRateLimited('a')
    expect(await queue.numRequeues('a')).toBe(4)
    expect(await queue.numRequeues('b')).toBe(0)
  })

  test('forget clears the count and nothing else', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addRateLimited('a')
    expect(await queue.forget('a')).toBe('forgotten')
    expect(await queue.forget('a')).toBe('unchanged')
    expect(await queue.forget('never seen')).toBe('unchanged')
    expect(await queue.numRequeues('a')).toBe(0)
    await scene.clock.step(5)
    const held = await take(queue)
    await queue.addRateLimited('a')
    expect(await queue.forget('a')).toBe('forgotten')
    expect(held.signal.aborted).toBe(false)
    expect(await held.done()).toBe('delayed')
  })

  test('add and addAfter neither ask the limiter nor reset it', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addRateLimited('a')
    await queue.add('a')
    await queue.addAfter('a', 1)
    expect(await queue.numRequeues('a')).toBe(1)
    await (await take(queue)).done()
    expect(await queue.numRequeues('a')).toBe(1)
  })

  test('asking again while it waits inflates the count, and the next failure waits for it', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    for (let n = 0; n < 4; n += 1) await queue.addRateLimited('a')
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 5)
    await scene.clock.step(5)
    const held = await take(queue)
    expect(await held.retry()).toBe('delayed')
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 80)
  })

  test('retry: is one write that counts once', async () => {
    const queue = new Scene(setup).limited()
    await queue.add('a')
    const held = await take(queue)
    expect(await Promise.all([held.retry(), held.retry()])).toEqual(['delayed', 'lost'])
    expect(await queue.numRequeues('a')).toBe(1)
  })

  test('of back-offs, too, the earliest wins', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited({ limiter: exponential({ baseMs: 100, maxMs: 1_000 }) })
    await queue.addRateLimited('a')
    expect(await queue.addAfter('a', 10)).toBe('moved')
    await scene.clock.step(10)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('Limiter state: failures expire a day after the last, on keys that are idle', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited({ failuresExpireMs: 1_000 })
    await queue.addRateLimited('a')
    await scene.clock.step(5)
    await (await take(queue)).done()
    await scene.clock.step(994)
    expect(await queue.numRequeues('a')).toBe(1)
    await scene.clock.step(1)
    expect(await queue.numRequeues('a')).toBe(0)
    await queue.addRateLimited('a')
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 5)
  })

  test('Limiter state: the count is of the key in the store, for all queue objects', async () => {
    const scene = new Scene(setup)
    const one = scene.limited()
    const other = scene.limited()
    await one.addRateLimited('a')
    await other.addRateLimited('a')
    expect([await one.numRequeues('a'), await other.numRequeues('a')]).toEqual([2, 2])
    const elsewhere = scene.limited({ name: 'elsewhere' })
    expect(await elsewhere.numRequeues('a')).toBe(0)
  })

  test('Options: priorities are taken', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('low')
    await queue.addRateLimited('high', { priority: 3 })
    await scene.clock.step(5)
    expect(await drainKeys(queue)).toEqual(['high', 'low'])
  })
})

describe.each(setups)('limiters of ours over $way', (setup) => {
  test('Limiter state: the plan is followed where the failures are', async () => {
    const scene = new Scene(setup)
    const limiter = fastSlow({ fastMs: 10, slowMs: 1_000, maxFast: 2 })
    const queue = scene.limited({ limiter })
    const delays: number[] = []
    for (let n = 0; n < 4; n += 1) {
      await queue.add('a')
      await (await take(queue)).retry()
      delays.push(((await scene.row('a'))?.dueAt ?? 0) - scene.clock.now())
      await queue.cancel('a')
    }
    expect(delays).toEqual([10, 10, 1_000, 1_000])
    // Nothing is counted in the limiter itself.
    expect(limiter.numRequeues('a')).toBe(0)
  })

  test('Limiter state: buckets without a name are the queue’s own', async () => {
    const scene = new Scene(setup)
    const limiter = maxOf(tokenBucket({ perSecond: 1, burst: 1 }))
    const one = scene.limited({ name: 'one', limiter })
    const same = scene.limited({ name: 'one', limiter })
    const two = scene.limited({ name: 'two', limiter })
    const delay = async (queue: string): Promise<number> =>
      ((await scene.row('k', queue))?.dueAt ?? 0) - scene.clock.now()
    await one.addRateLimited('first')
    await same.addRateLimited('k')
    expect(await delay('one')).toBe(1_000)
    await two.addRateLimited('k')
    expect(await delay('two')).toBe(0)
  })

  test('numRequeues is 0 where no part of the limiter counts, and the store keeps its count', async () => {
    const scene = new Scene(setup)
    const bucket = tokenBucket({ perSecond: 1, burst: 100 })
    const perKey = exponential({ baseMs: 1, maxMs: 10 })
    const limiters = [
      [bucket, 0],
      [maxOf(bucket, tokenBucket({ name: 'other', perSecond: 1, burst: 1 })), 0],
      [withMaxWait(jittered(bucket, 0.5), 10), 0],
      [maxOf(), 0],
      [perKey, 2],
      [withMaxWait(jittered(maxOf(bucket, perKey), 0.5), 10), 2],
    ] as const
    for (const [at, [limiter, count]] of limiters.entries()) {
      const queue = scene.limited({ name: `q${at}`, limiter })
      await queue.addRateLimited('a')
      await queue.addRateLimited('a')
      expect(await queue.numRequeues('a'), `limiter ${at}`).toBe(count)
      expect((await scene.row('a', `q${at}`))?.failures).toBe(2)
    }
  })

  test('Limiter state: buckets of one name are shared by all queues', async () => {
    const scene = new Scene(setup)
    const limiter = tokenBucket({ name: 'shared', perSecond: 1, burst: 1 })
    await scene.limited({ name: 'one', limiter }).addRateLimited('first')
    const two = scene.limited({ name: 'two', limiter })
    await two.addRateLimited('k')
    expect((await scene.row('k', 'two'))?.dueAt).toBe(scene.clock.now() + 1_000)
  })

  test('4: a bucket is not charged when nothing changes', async () => {
    const scene = new Scene(setup)
    const limiter = tokenBucket({ name: 'b', perSecond: 1, burst: 2 })
    const queue = scene.limited({ limiter })
    await queue.addRateLimited('a')
    for (let n = 0; n < 5; n += 1) expect(await queue.addRateLimited('a')).toBe('unchanged')
    await queue.addRateLimited('b')
    expect((await scene.row('b'))?.dueAt).toBe(scene.clock.now())
    await queue.addRateLimited('c')
    expect((await scene.row('c'))?.dueAt).toBe(scene.clock.now() + 1_000)
  })

  test('the default: 5 ms and doubling per key, 10 per second after 100 for all', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    for (let n = 0; n < 100; n += 1) await queue.addRateLimited(`k${n}`)
    expect((await scene.row('k99'))?.dueAt).toBe(scene.clock.now() + 5)
    await queue.addRateLimited('late')
    expect((await scene.row('late'))?.dueAt).toBe(scene.clock.now() + 100)
  })

  test('on the layers below, retry follows a limiter that was given', async () => {
    const scene = new Scene(setup)
    const limiter = exponential({ baseMs: 700, maxMs: 7_000 })
    const queue = scene.queue({ limiter })
    await queue.add('a')
    await (await take(queue)).retry()
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 700)
  })
})

/** A limiter without a plan, whose answers a test gives. */
function custom(answer: (count: number) => unknown): Limiter<string> & { asked: string[] } {
  const counts = new Map<string, number>()
  const asked: string[] = []
  return {
    asked,
    when: (item) => {
      asked.push(item)
      counts.set(item, (counts.get(item) ?? 0) + 1)
      return answer(counts.get(item) ?? 0) as number
    },
    forget: (item) => {
      counts.delete(item)
    },
    numRequeues: (item) => counts.get(item) ?? 0,
  }
}

describe.each(setups)('a limiter of the user’s over $way', (setup) => {
  test('Limiter state: runs in this process, before the write', async () => {
    const scene = new Scene(setup)
    const limiter = custom((count) => count * 100)
    const queue = scene.limited({ limiter })
    await queue.addRateLimited('a')
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 100)
    await scene.clock.step(100)
    await (await take(queue)).retry()
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 200)
    expect(await queue.numRequeues('a')).toBe(2)
    await queue.forget('a')
    expect([limiter.numRequeues('a'), await queue.numRequeues('a')]).toEqual([0, 0])
  })

  test('Limiter state: one that throws or gives no number means 1 s, and is reported', async () => {
    const scene = new Scene(setup)
    const answers: (() => unknown)[] = [
      () => Number.NaN,
      () => 'soon',
      () => undefined,
      () => Object.create(null),
      () => {
        throw new Error('broken limiter')
      },
    ]
    for (const [n, answer] of answers.entries()) {
      const queue = scene.limited({ name: `q${n}`, limiter: custom(answer) })
      expect(await queue.addRateLimited('a')).toBe('added')
      expect((await scene.row('a', `q${n}`))?.dueAt).toBe(scene.clock.now() + 1_000)
      await queue.add('b')
      expect(await (await take(queue)).retry()).toBe('delayed')
      expect(scene.takeErrors().length).toBe(2)
    }
  })

  test('Limiter state: results are clamped to 0..10 years', async () => {
    const scene = new Scene(setup)
    const years = 10 * 365.25 * 86_400_000
    const soon = scene.limited({ name: 'soon', limiter: custom(() => -5) })
    await soon.addRateLimited('a')
    expect(await soon.len()).toBe(1)
    const never = scene.limited({ name: 'never', limiter: custom(() => Infinity) })
    await never.addRateLimited('a')
    expect((await scene.row('a', 'never'))?.dueAt).toBe(scene.clock.now() + years)
  })

  test('retry: a run that is given back twice is counted once', async () => {
    const limiter = custom(() => 1)
    const queue = new Scene(setup).limited({ limiter })
    await queue.add('a')
    const held = await take(queue)
    await held.done()
    expect(await held.retry()).toBe('lost')
    expect(limiter.asked).toEqual([])
  })

  test('a refused add is not counted', async () => {
    const limiter = custom(() => 1)
    const queue = new Scene(setup).limited({ limiter })
    await queue.shutDown()
    expect(await refusal(queue.addRateLimited('a'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(limiter.asked).toEqual([])
  })

  test('an add whose item is refused is not counted', async () => {
    const limiter = custom(() => 1)
    const refused = { issues: [{ message: 'never matches' }] }
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => refused } as const }
    const scene = new Scene(setup)
    for (const more of [{ schema }, { schema, keyOf: () => 'k' }, { keyOf: () => 'k' }]) {
      const queue = scene.limited<string>({ limiter, ...more })
      const error = await refusal(queue.addRateLimited('\ud800'))
      expect(error).toMatchObject({ code: 'ERR_INVALID_INPUT' })
      const other = queue.addRateLimited(more.schema === undefined ? (undefined as never) : 'a')
      expect(await refusal(other)).toMatchObject({ code: 'ERR_INVALID_INPUT' })
    }
    expect(limiter.asked).toEqual([])
  })

  test('may have parts of ours, which count items that are longer than a key', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited<{ id: string; note: string }>({
      keyOf: ({ id }) => id,
      limiter: maxOf(exponential({ baseMs: 7, maxMs: 1_000 }), custom(() => 0) as never),
    })
    const item = { id: 'a', note: 'x'.repeat(600) }
    await queue.add(item)
    await (await take(queue)).retry(new Error('no'))
    expect(((await scene.row('a'))?.dueAt ?? 0) - scene.clock.now()).toBe(7)
    expect(await queue.numRequeues(item)).toBe(1)
  })

  test('one whose forget or numRequeues throws harms no other key', async () => {
    const scene = new Scene(setup)
    const broken: Limiter<string> = {
      when: () => 1,
      forget: () => {
        throw new Error('cannot forget')
      },
      numRequeues: () => {
        throw new Error('cannot count')
      },
    }
    const queue = scene.limited({ limiter: broken })
    await queue.addRateLimited('a')
    expect(await queue.forget('a')).toBe('forgotten')
    expect(scene.takeErrors().length).toBe(1)
    expect(String(await refusal(queue.numRequeues('a')))).toContain('cannot count')
    expect(await queue.add('b')).toBe('added')
  })
})

test.each(setups)(
  'a key waits by the limiter of the layer that it was taken through, over $way',
  async (setup) => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const limiter = exponential({ baseMs: 100, maxMs: 1_000 })
    const limited = scene.keep(createRateLimitingQueue<string>({ queue: below, limiter }))
    // A get of the other layer found no key.
    const gone = new AbortController()
    const waiting = below.get({ signal: gone.signal })
    gone.abort()
    await refusal(waiting)
    await limited.add('a')
    await (await take(limited)).retry()
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 100)
  },
)

test('a heartbeat in memory sweeps thousands of expired counts that no further add sweeps', async () => {
  const scene = new Scene(direct)
  const queue = scene.limited({
    failuresExpireMs: 1_000,
    limiter: exponential({ baseMs: 1, maxMs: 1 }),
  })
  for (let at = 0; at < 3_000; at += 1) await queue.addRateLimited(`key ${at}`)
  await scene.clock.step(1_000_000)
  for (let at = 0; at < 3_000; at += 1) await (await take(queue)).done()
  expect((await queue.inspect.counts()).idle).toBe(3_000)
  createWorker({ queue, handler: () => {} })
  await scene.clock.step(20_000)
  expect((await queue.inspect.counts()).idle).toBe(0)
})
