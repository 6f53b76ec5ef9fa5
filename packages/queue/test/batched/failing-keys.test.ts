import type { Ask, Failure, Finish } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { keysOf } from '../support/keys-of.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { refusal } from '../support/refusal.ts'
import { drainKeys, late, Scene, seen, take } from '../support/setups.ts'

const busy: Failure = {
  outcome: 'failed',
  error: new SluiceError('ERR_STORE_BUSY', 'locked', { retryable: true }),
}

/** Answers for one key with a failure, a given number of times. */
function failFor(scene: Scene, verb: 'add' | 'finish', key: string, failures: Failure[]): void {
  const { inner } = scene
  const real = inner[verb].bind(inner) as (...args: unknown[]) => readonly unknown[]
  const failing = (queue: string, requests: readonly (Ask | Finish)[], options: unknown) => {
    const failure = requests.some((one) => one.key === key) ? failures.shift() : undefined
    if (failure === undefined) return real(queue, requests, options)
    const rest = requests.filter((one) => one.key !== key)
    const replies = [...(rest.length > 0 ? real(queue, rest, options) : [])]
    return requests.map((one) => (one.key === key ? failure : replies.shift()))
  }
  Object.assign(inner, { [verb]: failing })
}

describe('Flushing: keys that fail in the driver', () => {
  test('one bad key fails alone', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    scene.late.before = ({ verb, request }) => {
      if (verb === 'add' && keysOf(request).includes('bad')) throw new Error('bad key')
    }
    const adds = ['a', 'bad', 'b'].map((key) => seen(queue.add(key)))
    await scene.quiet()
    expect(adds.map(({ state }) => state)).toEqual(['resolved', 'rejected', 'resolved'])
    expect(String(adds[1]?.error)).toContain('bad key')
    expect(Object.keys(await scene.states()).sort()).toEqual(['a', 'b', 'open'])
  })

  test.each([
    ['add', 1],
    ['finish', 3],
  ] as const)(
    'the bad keys of a thousand in %s are found in steps of which at most %d are under way',
    async (verb, stepsMax) => {
      const scene = new Scene(late)
      const queue = scene.queue()
      const keys = Array.from({ length: 1_000 }, (_, n) => `k${n}`)
      if (verb === 'finish') await queue.addMany(keys)
      const helds = verb === 'finish' ? await queue.getMany(1_000) : []
      const bad = new Set(['k17', 'k801'])
      let underWay = 0
      let most = 0
      scene.late.before = async (call) => {
        if (call.verb !== verb) return
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay -= 1
        if (keysOf(call.request).some((key) => bad.has(key))) {
          throw new SluiceError('ERR_STORE', 'value out of range')
        }
      }
      const answers = await Promise.allSettled(
        verb === 'add' ? keys.map((key) => queue.add(key)) : helds.map((held) => held.done()),
      )
      const refused = keys.filter((_, at) => answers[at]?.status === 'rejected')
      expect(refused).toEqual([...bad])
      expect(most).toBeLessThanOrEqual(stepsMax)
      expect(scene.late.count(verb)).toBeLessThan(50)
      if (verb === 'add') {
        expect(await drainKeys(queue)).toEqual(keys.filter((key) => !bad.has(key)))
      }
    },
  )

  test('an error of the whole store rejects a batch at once', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    scene.late.before = ({ verb }) => {
      if (verb === 'add') throw new SluiceError('ERR_STORE_DAMAGED', 'damaged')
    }
    const answers = await Promise.allSettled(['a', 'b', 'c'].map((key) => queue.add(key)))
    expect(answers.map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
    expect(scene.late.count('add')).toBe(2)
  })

  test('where the store cannot be opened, a batch is rejected by one attempt', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    scene.late.before = ({ verb }) => {
      if (verb === 'open') throw new SluiceError('ERR_STORE', 'the user may not')
    }
    const answers = await Promise.allSettled(['a', 'b', 'c'].map((key) => queue.add(key)))
    expect(answers.map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
    expect(scene.late.count('open')).toBe(1)
  })

  test('keys that wait to be found are given up after timeoutMs', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 1_000 })
    await queue.add('open')
    let calls = 0
    scene.late.before = ({ verb }) => {
      if (verb !== 'add') return
      calls += 1
      if (calls === 1) throw new SluiceError('ERR_STORE', 'value out of range')
    }
    scene.late.hold('add')
    const adds = ['a', 'b', 'c', 'd'].map((key) => seen(queue.add(key)))
    await time.pass(2_000)
    expect(adds.map(({ error }) => (error as SluiceError).code)).toEqual([
      'ERR_UNKNOWN_OUTCOME',
      'ERR_UNKNOWN_OUTCOME',
      'ERR_TIMEOUT',
      'ERR_TIMEOUT',
    ])
    scene.late.letGo('add')
  })

  test('a bad key keeps the order of the calls on the others', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    scene.late.before = async ({ verb, request }) => {
      if (verb === 'add' && keysOf(request).includes('bad')) throw new Error('bad key')
      // An add takes longer than the calls after it.
      if (verb === 'add') for (let n = 0; n < 5; n += 1) await new Promise(setImmediate)
    }
    const calls = [queue.add('a'), refusal(queue.add('bad')), queue.cancel('a')]
    expect((await Promise.all(calls))[2]).toBe('cancelled')
    expect(await scene.states()).toEqual({ open: 'ready' })
  })

  test('a locked key is tried again, alone, while others continue', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    failFor(scene, 'add', 'locked', [busy, busy, busy])
    const locked = seen(queue.add('locked'))
    const others = await Promise.all([queue.add('a'), queue.add('b')])
    expect([others, locked.state]).toEqual([['added', 'added'], 'waiting'])
    expect(await queue.add('c')).toBe('added')
    await time.pass(2_000)
    await scene.quiet()
    expect(locked.value).toBe('added')
    const tries = scene.late.requests('add').map(keysOf)
    expect(tries.filter((keys) => keys.includes('locked'))).toEqual([
      ['locked', 'a', 'b'],
      ['locked'],
      ['locked'],
      ['locked'],
    ])
  })

  test('keys that were locked together are tried again together, until only one is locked', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    const { inner } = scene
    const add = inner.add.bind(inner)
    const locked = [new Set(['a', 'b', 'c']), new Set(['a', 'b', 'c']), new Set(['b'])]
    inner.add = (name, asks, options) => {
      const now = locked.shift() ?? new Set()
      const replies = [
        ...(add(
          name,
          asks.filter(({ key }) => !now.has(key)),
          options,
        ) as never[]),
      ]
      return asks.map(({ key }) => (now.has(key) ? busy : replies.shift()!))
    }
    const adds = ['a', 'b', 'c', 'd'].map((key) => seen(queue.add(key)))
    await time.pass(2_000)
    await scene.quiet()
    expect(adds.map(({ value }) => value)).toEqual(Array(4).fill('added'))
    expect(scene.late.requests('add').map(keysOf)).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
      ['b'],
    ])
  })

  test('calls on a locked key wait for it, in their order', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    failFor(scene, 'add', 'a', [busy])
    const calls = [seen(queue.add('a')), seen(queue.cancel('a')), seen(queue.add('b'))]
    await scene.quiet()
    expect(calls.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'resolved'])
    await time.pass(1_000)
    await scene.quiet()
    expect(calls.map(({ value }) => value)).toEqual(['added', 'cancelled', 'added'])
  })

  test('a locked finish does not keep others from being handed out', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    const a = await take(queue)
    failFor(scene, 'finish', 'a', [busy, busy])
    const finishing = seen(a.done())
    expect((await take(queue)).key).toBe('b')
    await time.pass(1_000)
    await scene.quiet()
    expect(finishing.value).toBe('idle')
    expect(await drainKeys(queue)).toEqual(['c'])
  })

  test('a permanent failure rejects its key, and no other', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const damaged = new SluiceError('ERR_STORE_DAMAGED', 'damaged')
    failFor(scene, 'add', 'a', [{ outcome: 'failed', error: damaged }])
    const adds = [seen(queue.add('a')), seen(queue.add('b'))]
    await scene.quiet()
    expect(adds.map(({ state }) => state)).toEqual(['rejected', 'resolved'])
    expect(adds[0]?.error).toBe(damaged)
  })

  test('a key that stays locked until timeoutMs rejects with ERR_STORE_BUSY', async () => {
    const time = fakeRealTime()
    // The time is up between two tries, not while the store has not answered one.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => random.mockRestore())
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 500 })
    failFor(scene, 'add', 'a', Array(100).fill(busy))
    const adding = seen(queue.add('a'))
    await time.pass(600)
    await scene.quiet()
    expect(adding.error).toMatchObject({ code: 'ERR_STORE_BUSY' })
  })

  test('a call behind a locked key has its own timeoutMs, also while a younger one has no answer', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 1_000 })
    failFor(scene, 'add', 'locked', Array(100).fill(busy))
    const first = seen(queue.add('locked'))
    await time.pass(500)
    const second = seen(queue.add('locked'))
    await time.pass(300)
    scene.late.hold('add')
    const younger = seen(queue.add('younger'))
    await time.pass(300)
    expect([first.state, second.state]).toEqual(['rejected', 'waiting'])
    await time.pass(450)
    expect(second.error).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(younger.state).toBe('waiting')
    scene.late.letGo('add')
    await scene.quiet()
    expect(younger.value).toBe('added')
  })
})
