import { type ClaimRequest, SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import type { Call } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { drainKeys, holding, late, Scene, seen, take } from '../support/setups.ts'

const unknown = new SluiceError('ERR_UNKNOWN_OUTCOME', 'the connection broke')
const away = new SluiceError('ERR_STORE', 'no connection', { retryable: true })
const busy = new SluiceError('ERR_STORE_BUSY', 'locked', { retryable: true })
const full = new SluiceError('ERR_STORE_FULL', 'disk full', { retryable: true })

/** Throws these around the next calls of a verb, one each; `undefined` lets a call pass. */
function errors(verb: string, ...next: (Error | undefined)[]): (call: Call) => void {
  return (call) => {
    const error = call.verb === verb ? next.shift() : undefined
    if (error !== undefined) throw error
  }
}

/** Answers that it is unknown whether a key was served, the next times, after serving it or not. */
function unknownFor(scene: Scene, verb: 'add' | 'finish', times: number, isServed: boolean): void {
  const { inner } = scene
  const real = inner[verb].bind(inner) as (...args: unknown[]) => readonly unknown[]
  let left = times
  Object.assign(inner, {
    [verb]: (...args: unknown[]) => {
      if (left === 0) return real(...args)
      left -= 1
      if (isServed) real(...args)
      return (args[1] as unknown[]).map(() => ({ outcome: 'failed', error: unknown }))
    },
  })
}

describe.each([
  ['was served', true],
  ['was not', false],
])('Store trouble: a driver that does not know of one key, which %s', (_, isServed) => {
  test('an add is repeated, and is one run', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    unknownFor(scene, 'add', 2, isServed)
    const adding = seen(queue.add('a'))
    await time.pass(2_000)
    expect(adding.state).toBe('resolved')
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('a finish is repeated, and is never said to be lost', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.limited()
    await queue.addMany(['a', 'b'])
    const [a, b] = await queue.getMany(2)
    unknownFor(scene, 'finish', 2, isServed)
    const answers = [seen(a?.done() as Promise<unknown>), seen(b?.retry() as Promise<unknown>)]
    await time.pass(2_000)
    expect(answers.map(({ value }) => value)).toEqual(['idle', 'delayed'])
    expect(await queue.numRequeues('b')).toBe(1)
  })
})

describe('Store trouble: adds', () => {
  test('an add whose answer was lost is repeated, and is one run', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    scene.late.after = errors('add', unknown, unknown)
    const adds = [seen(queue.add('a')), seen(queue.add('b'))]
    await time.pass(2_000)
    await scene.quiet()
    expect(adds.map(({ state }) => state)).toEqual(['resolved', 'resolved'])
    expect((await drainKeys(queue)).sort()).toEqual(['a', 'b'])
  })

  test('one that never got there is repeated, and is there', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    scene.late.before = errors('add', unknown)
    const adding = seen(queue.add('a'))
    await time.pass(1_000)
    await scene.quiet()
    expect(adding.value).toBe('added')
  })

  test('it is repeated while the store is unreachable or busy', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    scene.late.before = errors('add', undefined, away, busy, away)
    scene.late.after = errors('add', unknown)
    const adding = seen(queue.add('a'))
    await time.pass(5_000)
    await scene.quiet()
    expect(adding.state).toBe('resolved')
    expect(await scene.states()).toEqual({ open: 'ready', a: 'ready' })
  })

  test('if the outcome is unknown until timeoutMs, the error does not say that nothing was done', async () => {
    for (const after of [unknown, away, busy, new SluiceError('ERR_STORE_DAMAGED', 'damaged')]) {
      const time = fakeRealTime()
      const scene = new Scene(late)
      const queue = scene.queue({ timeoutMs: 1_000 })
      await queue.add('open')
      scene.late.before = errors('add', undefined, ...Array(100).fill(after))
      scene.late.after = errors('add', unknown)
      const adding = seen(queue.add('a'))
      await time.pass(2_000)
      await scene.quiet()
      expect(adding.error).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    }
  })

  test('a definite error rejects at once, with nothing done', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    for (const error of [away, full]) {
      scene.late.before = errors('add', error)
      const adds = [seen(queue.add('a')), seen(queue.add('b'))]
      await scene.quiet()
      expect(adds.map((add) => add.error)).toEqual([error, error])
      expect(await scene.states()).toEqual({ open: 'ready' })
    }
  })
})

describe('Store trouble: finishing', () => {
  test('a finish whose answer was lost is repeated, and took effect once', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.limited()
    await queue.addMany(['done', 'retry', 'release', 'park'])
    const [done, retry, release, park] = await queue.getMany(4)
    scene.late.after = errors('finish', unknown)
    const finishes = [done?.done(), retry?.retry(), release?.release(), park?.park()].map(
      (finish) => seen(finish as Promise<unknown>),
    )
    await time.pass(2_000)
    await scene.quiet()
    expect(finishes.map(({ value }) => value)).toEqual(['idle', 'delayed', 'ready', 'parked'])
    expect((await scene.row('retry'))?.failures).toBe(1)
    expect(await scene.states()).toEqual({ retry: 'backoff', release: 'ready', park: 'parked' })
  })

  test('one that never got there is repeated, and takes effect', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.limited()
    await queue.add('a')
    const held = await take(queue)
    scene.late.before = errors('finish', unknown, away)
    const finishing = seen(held.retry())
    await time.pass(2_000)
    await scene.quiet()
    expect(finishing.value).toBe('delayed')
    expect((await scene.row('a'))?.failures).toBe(1)
  })

  test('it took effect also if another worker holds the key by now', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    const other = scene.queue()
    await queue.add('a')
    const held = await take(queue)
    await queue.add('a')
    scene.late.after = errors('finish', unknown)
    const finishing = seen(held.done())
    await scene.quiet()
    await take(other)
    await time.pass(1_000)
    await scene.quiet()
    expect(finishing.value).toBe('ready')
  })

  test.each([away, busy])(
    'what is not read at first of one key concerns no other: %s',
    async (trouble) => {
      const time = fakeRealTime()
      const scene = new Scene(late)
      const queue = scene.queue()
      await queue.addMany(['a', 'b'])
      const [a, b] = await queue.getMany(2)
      const finish = scene.inner.finish.bind(scene.inner)
      scene.inner.finish = (name, [first], options) => {
        scene.inner.finish = finish
        void finish(name, [first!], options)
        return [unknown, busy].map((error) => ({ outcome: 'failed', error }))
      }
      scene.late.before = errors('list', trouble)
      const answers = [seen(a?.done() as Promise<unknown>), seen(b?.done() as Promise<unknown>)]
      await time.pass(5_000)
      expect(answers.map(({ value }) => value)).toEqual(['idle', 'idle'])
    },
  )

  test('past the local deadline the outcome is unknown: ERR_UNKNOWN_OUTCOME, never lost', async () => {
    const time = fakeRealTime()
    const { scene, held } = await holding(late)
    scene.late.hold('renew')
    scene.late.after = errors('finish', unknown, unknown)
    const finishing = seen(held.done())
    await scene.quiet()
    await scene.clock.step(30_000)
    await time.pass(1_000)
    await scene.quiet()
    expect(finishing.error).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    scene.late.letGo('renew')
    await scene.quiet()
  })

  test('a finish that was lost before it was sent is lost', async () => {
    const { scene, held } = await holding(late)
    await scene.operate.remove('q', ['a'])
    await scene.inner.finish('q', [{ as: 'done', key: 'a', token: held.token, forget: false }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    expect(await held.done()).toBe('lost')
  })

  test('a finish that rejected can be repeated', async () => {
    const { scene, queue, held } = await holding(late)
    for (const finish of [() => held.done(), () => queue.doneMany([held])]) {
      scene.late.before = errors('finish', away)
      const finishing = seen<unknown>(finish())
      await scene.quiet()
      expect(finishing.error).toBe(away)
      expect(held.signal.aborted).toBe(false)
    }
    expect(await held.done()).toBe('idle')
  })

  test('a key whose finish rejected stays held: its lease is renewed until the finish is repeated', async () => {
    const { scene, queue, held } = await holding(late)
    scene.late.before = errors('finish', full)
    await expect(held.done()).rejects.toBe(full)
    const other = seen(queue.get())
    for (let passed = 0; passed < 120_000; passed += 5_000) await scene.clock.step(5_000)
    await scene.quiet()
    expect(other.state).toBe('waiting')
    expect(scene.late.count('renew')).toBeGreaterThan(4)
    expect(held.signal.aborted).toBe(false)
    expect(await held.done()).toBe('idle')
  })
})

describe('Store trouble: claims', () => {
  test('a claim whose answer was lost is adopted, and handed out once', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    scene.late.after = errors('claim', unknown)
    const held = await take(queue)
    expect(held.key).toBe('a')
    expect(scene.late.count('adopt')).toBe(1)
    expect((await take(queue)).key).toBe('b')
    expect(await held.done()).toBe('idle')
  })

  test('also if that fails at first', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.after = errors('claim', unknown)
    scene.late.before = errors('adopt', away, unknown)
    const waiting = seen(queue.get())
    await time.pass(2_000)
    await scene.quiet()
    expect(waiting.value?.key).toBe('a')
    expect(scene.takeErrors()).toEqual(['ERR_STORE', 'ERR_UNKNOWN_OUTCOME'])
  })

  test('a claim that never arrived is repeated', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.before = errors('claim', unknown)
    const waiting = seen(queue.get())
    await scene.clock.step(10_000)
    await time.pass(1_000)
    await scene.quiet()
    expect(waiting.value?.key).toBe('a')
  })

  test('the keys of a claim that takes effect after it was looked for are given back', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.before = errors('claim', unknown)
    scene.late.after = async ({ verb }) => {
      if (verb !== 'adopt' || scene.late.count('adopt') > 1) return
      const [request] = scene.late.requests('claim')
      await scene.late.claim(queue.name, request as ClaimRequest)
    }
    const waiting = seen(queue.get())
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'processing' })
    await scene.clock.step(10_000)
    await time.pass(1_000)
    await scene.quiet()
    expect(waiting.value).toMatchObject({ key: 'a', failures: 0, crashes: 0 })
  })

  test('an adopted key without a waiter is put back', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.after = errors('claim', unknown)
    scene.late.hold('adopt')
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    controller.abort(new Error('enough'))
    scene.late.letGo('adopt')
    await scene.quiet()
    expect(waiting.state).toBe('rejected')
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('renewals with lost answers do not move the deadline', async () => {
    const { scene, held } = await holding(late)
    scene.late.after = errors('renew', ...Array(100).fill(unknown))
    await scene.clock.step(26_999)
    expect(held.signal.aborted).toBe(false)
    await scene.clock.step(1)
    expect(held.signal.aborted).toBe(true)
    expect(new Set(scene.takeErrors())).toEqual(new Set(['ERR_UNKNOWN_OUTCOME']))
  })
})

describe('Store trouble: a store that does not answer', () => {
  test('a call that was sent rejects with ERR_UNKNOWN_OUTCOME, one that was not with ERR_TIMEOUT', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 1_000 })
    await queue.add('open')
    scene.late.hold('add')
    const sent = seen(queue.add('a'))
    await scene.quiet()
    const waiting = seen(queue.add('b'))
    await time.pass(900)
    expect([sent.state, waiting.state]).toEqual(['waiting', 'waiting'])
    await time.pass(200)
    expect(sent.error).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    expect(waiting.error).toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
    scene.late.letGo('add')
    await scene.quiet()
    expect(await queue.add('c')).toBe('added')
    expect(Object.keys(await scene.states()).sort()).toEqual(['a', 'c', 'open'])
  })

  test('adds that travelled as one share the doubt, if the repetition fails', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    scene.late.after = errors('add', unknown, new SluiceError('ERR_STORE', 'for good'))
    const adds = [seen(queue.add('a')), seen(queue.add('a'))]
    await scene.quiet()
    await time.pass(2_000)
    expect(adds.map(({ error }) => error)).toMatchObject([
      { code: 'ERR_UNKNOWN_OUTCOME' },
      { code: 'ERR_UNKNOWN_OUTCOME' },
    ])
  })

  test('each call has its own timeoutMs, also if it shares a step with a younger one', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 1_000 })
    await queue.add('open')
    scene.late.hold('add')
    const blocker = seen(queue.add('blocker'))
    await scene.quiet()
    const older = seen(queue.add('older'))
    await time.pass(500)
    const younger = seen(queue.add('younger'))
    scene.late.letGo('add')
    scene.late.hold('add')
    await scene.quiet()
    expect(blocker.state).toBe('resolved')
    await time.pass(600)
    expect(older.error).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    expect(younger.state).toBe('waiting')
    scene.late.letGo('add')
    await scene.quiet()
    expect(younger.value).toBe('added')
  })
})
