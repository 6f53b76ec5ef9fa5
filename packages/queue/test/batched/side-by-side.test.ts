import { type ClaimReply, type ClaimRequest, SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { type Call, nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { holding, late, Scene, seen, take } from '../support/setups.ts'

/** Holds back answers of this verb, but not its effect, until the function is called. */
function holdAnswers(scene: Scene, verb: string): () => void {
  const gate = Promise.withResolvers<void>()
  const { late: driver } = scene
  driver.after = async (call: Call) => {
    if (call.verb !== verb) return
    driver.inFlight -= 1
    await gate.promise
    driver.inFlight += 1
  }
  return () => {
    driver.after = () => undefined
    gate.resolve()
  }
}

describe('claims, finishes and ticks side by side', () => {
  test('a claim does not wait for a finish', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const first = await take(queue)
    scene.late.hold('finish')
    const finishing = seen(first.done())
    const second = await take(queue)
    expect([second.key, finishing.state]).toEqual(['b', 'waiting'])
    scene.late.letGo('finish')
    await scene.quiet()
    expect(finishing.state).toBe('resolved')
    await second.done()
  })

  test('keys that are finished together come free in one claim', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const keys = Array.from({ length: 20 }, (_, at) => `k${at}`)
    await queue.addMany(keys)
    const worker = createWorker({ queue, concurrency: 10, handler: () => undefined })
    await worker.runUntilIdle()
    expect(scene.late.requests('claim').slice(0, 2)).toMatchObject([{ limit: 10 }, { limit: 10 }])
    expect(scene.late.count('finish')).toBe(2)
  })

  test('a key that comes back while a claim that missed it is under way is claimed', async () => {
    const { scene, queue, held } = await holding(late)
    await queue.add('a')
    const release = holdAnswers(scene, 'claim')
    const getting = seen(queue.get())
    await scene.quiet()
    expect(await held.done()).toBe('ready')
    release()
    await scene.quiet()
    expect(getting.value?.key).toBe('a')
    await getting.value?.done()
  })

  test('a later due time is not lost to an answer that did not include it yet', async () => {
    const scene = new Scene(late)
    // No notification comes for it either.
    Object.assign(scene.late, { watch: undefined })
    const queue = scene.delaying()
    const release = holdAnswers(scene, 'tick')
    const getting = seen(queue.get())
    await scene.quiet()
    expect(scene.late.count('tick')).toBe(1)
    await queue.addAfter('a', 500)
    release()
    await scene.quiet()
    await scene.clock.step(500)
    expect(getting.value?.key).toBe('a')
    await getting.value?.done()
  })

  test('a drain waits for a claim that is under way', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    const release = holdAnswers(scene, 'claim')
    const getting = seen(queue.get())
    await scene.quiet()
    const draining = seen(queue.shutDownWithDrain())
    await scene.quiet()
    expect(draining.state).toBe('waiting')
    release()
    await scene.quiet()
    expect([draining.state, getting.value?.key]).toEqual(['waiting', 'a'])
    await getting.value?.done()
    await scene.quiet()
    expect(draining.state).toBe('resolved')
  })

  test('claimed keys are handed out, though expired leases cannot be ended', async () => {
    const scene = new Scene(late)
    const { inner } = scene
    const claim = inner.claim.bind(inner)
    inner.claim = (queue, request) => {
      const reply = claim(queue, request) as ClaimReply
      return { ...reply, leaseEnds: [{ key: 'lost', token: 1 }] }
    }
    inner.expire = () => {
      inner.claim = claim
      throw new SluiceError('ERR_STORE_DAMAGED', 'cannot end leases')
    }
    const queue = scene.queue()
    await queue.add('a')
    const getting = seen(queue.get())
    await scene.quiet()
    expect(getting.value?.key).toBe('a')
    expect(scene.takeErrors()).toEqual(['ERR_STORE_DAMAGED'])
    await getting.value?.done()
  })

  test('a worker is not idle while a claim is under way', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    const release = holdAnswers(scene, 'claim')
    const ran: string[] = []
    const worker = createWorker({ queue, handler: (item) => void ran.push(item) })
    await scene.quiet()
    const idle = seen(worker.runUntilIdle())
    await scene.quiet()
    expect(idle.state).toBe('waiting')
    release()
    await scene.quiet()
    expect([idle.state, ran]).toEqual(['resolved', ['a']])
  })

  test('a worker is not idle while a claim that has failed is still to be repeated', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    let isAway = true
    scene.late.before = async ({ verb }) => {
      await nextTurn()
      if (verb !== 'claim' || !isAway) return
      isAway = false
      throw new SluiceError('ERR_STORE', 'away', { retryable: true })
    }
    const ran: string[] = []
    const worker = createWorker({ queue, handler: (item) => void ran.push(item) })
    const idle = seen(worker.runUntilIdle())
    await scene.quiet()
    expect([idle.state, scene.takeErrors()]).toEqual(['waiting', ['ERR_STORE']])
    await time.pass(1_000)
    expect([idle.state, ran]).toEqual(['resolved', ['a']])
  })

  test('closing waits for a claim in flight, and gives back its keys', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    const release = holdAnswers(scene, 'claim')
    const getting = seen(queue.get())
    await scene.quiet()
    const closing = seen(queue.close())
    await scene.quiet()
    expect([closing.state, getting.value]).toEqual(['waiting', undefined])
    release()
    await scene.quiet()
    expect(closing.state).toBe('resolved')
    expect(await scene.states()).toEqual({ a: 'ready' })
    scene.forget(queue)
  })
})

describe('parallel calls, where very many keys are wanted', () => {
  const keys = Array.from({ length: 1_500 }, (_, at) => `k${at}`)

  test('a second claim is made before the first is answered, if there are probably enough keys', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 1_000 })
    await queue.addMany(keys)
    await queue.addMany(keys.map((key) => `more ${key}`))
    let flying = 0
    let most = 0
    scene.late.before = async (call) => {
      flying += call.verb === 'claim' ? 1 : 0
      most = Math.max(most, flying)
      await nextTurn()
    }
    scene.late.after = (call) => {
      flying -= call.verb === 'claim' ? 1 : 0
    }
    const worker = createWorker({ queue, concurrency: 500, handler: () => undefined })
    await worker.runUntilIdle()
    expect(await scene.states()).toEqual({})
    const limits = scene.late.requests('claim').map((claim) => (claim as ClaimRequest).limit)
    // As much as one claim can bring; then what is taken from ahead, while another is under way.
    expect(limits.slice(0, 3)).toEqual([1_000, 500, 500])
    expect([2, 3]).toContain(most)
  })

  test('expired leases that a parallel claim finds are ended, and their keys claimed', async () => {
    const scene = new Scene(late)
    const { inner } = scene
    // No notification comes for keys that become ready.
    Object.assign(scene.late, { watch: undefined })
    const queue = scene.queue({ prefetch: 1_000 })
    await queue.add('lost')
    const other = { limit: 1, holder: 'other', claimId: 'other', leaseMs: 60_000 }
    const { claims } = await inner.claim('q', other)
    await queue.addMany(keys)
    await queue.addMany(keys.map((key) => `more ${key}`))
    const gate = Promise.withResolvers<void>()
    const beside = new Set<unknown>()
    let flying = 0
    let found: unknown
    scene.late.before = async ({ verb, request }) => {
      if (verb === 'claim') flying += 1
      if (verb === 'claim' && flying > 1) beside.add(request)
      // Longer than what frees the worker takes.
      for (let turn = verb === 'claim' ? 5 : 1; turn > 0; turn -= 1) await nextTurn()
    }
    scene.late.after = async ({ verb, request }) => {
      if (verb === 'claim') flying -= 1
      if (found === undefined || request !== found) return
      // Until the loop that claims rests.
      scene.late.inFlight -= 1
      await gate.promise
      scene.late.inFlight += 1
    }
    const claim = inner.claim.bind(inner)
    inner.claim = (name, request) => {
      const reply = claim(name, request) as ClaimReply
      if (found !== undefined || !beside.has(request) || reply.claims.length > 0) return reply
      found = request
      return { ...reply, leaseEnds: claims }
    }
    inner.expire = async (name, [lease]) => {
      await inner.finish(name, [{ as: 'release', ...lease! }], {
        dedupe: 'client-go',
        failuresExpireMs: 1,
      })
      return ['expired']
    }
    const ran = new Set<string>()
    createWorker({ queue, concurrency: 500, handler: (item) => void ran.add(item) })
    await scene.quiet()
    expect(found).toBeDefined()
    expect(ran.has('lost')).toBe(false)
    gate.resolve()
    await scene.quiet()
    expect(ran.has('lost')).toBe(true)
  })

  test('a claim that fails while another is under way is reported, and its keys run', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 1_000 })
    await queue.addMany(keys)
    await queue.addMany(keys.map((key) => `more ${key}`))
    let flying = 0
    let hasFailed = false
    scene.late.before = async ({ verb }) => {
      const isParallel = verb === 'claim' && flying > 0
      flying += verb === 'claim' ? 1 : 0
      await nextTurn()
      if (!isParallel || hasFailed) return
      hasFailed = true
      flying -= 1
      throw new SluiceError('ERR_STORE', 'no connection', { retryable: true })
    }
    scene.late.after = ({ verb }) => {
      flying -= verb === 'claim' ? 1 : 0
    }
    const ran = new Set<string>()
    createWorker({ queue, concurrency: 500, handler: (item) => void ran.add(item) })
    await scene.quiet()
    await time.pass(5_000)
    expect([hasFailed, ran.size]).toEqual([true, 3_000])
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
  })

  test('where no key is left, claims are not repeated', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 1_000 })
    await queue.addMany(keys.slice(0, 1_000))
    createWorker({ queue, concurrency: 500, handler: () => undefined })
    await scene.quiet()
    const { length } = scene.late.calls
    await scene.clock.step(1_000)
    await scene.quiet()
    expect(scene.late.calls.slice(length)).toEqual([])
  })

  test('where few are wanted, one claim is under way at a time', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 100 })
    await queue.addMany(keys)
    scene.late.hold('claim')
    const worker = createWorker({ queue, concurrency: 100, handler: () => undefined })
    await scene.quiet()
    expect(scene.late.requests('claim')).toMatchObject([{ limit: 200 }])
    scene.late.letGo('claim')
    await worker.runUntilIdle()
    expect(await scene.states()).toEqual({})
  })

  test('a second batch of finishes is sent before the first is answered', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(keys)
    const helds = [...(await queue.getMany(1_000)), ...(await queue.getMany(1_000))]
    scene.late.hold('finish')
    const finishing = Promise.all(helds.map((held) => held.done()))
    await scene.quiet()
    expect(scene.late.requests('finish').map((step) => (step as unknown[]).length)).toEqual([
      1_000, 500,
    ])
    scene.late.letGo('finish')
    expect(new Set(await finishing)).toEqual(new Set(['idle']))
  })

  test('few more finishes wait for the step that is under way', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(keys)
    const helds = await queue.getMany(1_000)
    scene.late.hold('finish')
    const first = helds[0]!.done()
    await scene.quiet()
    const more = Promise.all(helds.slice(1, 400).map((held) => held.done()))
    await scene.quiet()
    expect(scene.late.count('finish')).toBe(1)
    const most = Promise.all(helds.slice(400).map((held) => held.done()))
    await scene.quiet()
    expect(scene.late.count('finish')).toBe(2)
    scene.late.letGo('finish')
    await Promise.all([first, more, most])
  })
})
