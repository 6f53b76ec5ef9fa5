import { batchKeysMax } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { SluiceError } from '../../src/index.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { holding, late, leasedSetups, Scene, seen, take } from '../support/setups.ts'

const leaseMs = 30_000
/** How much earlier than the store this process stops trusting a lease. */
const margin = 3_000

/** Lets nothing renew any more, as for a process that stands still. */
function breakRenewals(scene: Scene): void {
  const { inner } = scene
  inner.renew = () => {
    throw new SluiceError('ERR_STORE', 'away', { retryable: true })
  }
}

describe.each(leasedSetups)('leases over $way', (setup) => {
  test('Leases: are renewed at a third, for as long as the key is held', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const [a, b] = await queue.getMany(2)
    const until = async (): Promise<number> => (await scene.row('a'))?.leaseUntil ?? 0
    expect(await until()).toBe(scene.clock.now() + leaseMs)
    await scene.clock.step(leaseMs / 3)
    expect(await until()).toBe(scene.clock.now() + leaseMs)
    await scene.clock.step(10 * leaseMs)
    expect(a?.signal.aborted).toBe(false)
    expect(await queue.doneMany([a, b].filter((held) => held !== undefined))).toEqual([
      'idle',
      'idle',
    ])
  })

  test('Leases: nothing runs when nothing is held', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await (await take(queue)).done()
    await scene.clock.step(leaseMs)
    expect(scene.clock.waiters()).toBe(0)
    await queue.add('a')
    const again = await take(queue)
    await scene.clock.step(5 * leaseMs)
    expect(again.signal.aborted).toBe(false)
  })

  test('Leases: the signal is aborted before the store hands out the key again', async () => {
    const { scene, held } = await holding(setup)
    breakRenewals(scene)
    await scene.clock.step(leaseMs - margin - 1)
    expect(held.signal.aborted).toBe(false)
    await scene.clock.step(1)
    expect(SluiceError.is(held.signal.reason, 'ERR_LEASE_LOST')).toBe(true)
    expect((await scene.row('a'))?.leaseUntil).toBe(scene.clock.now() + margin)
    expect(new Set(scene.takeErrors())).toEqual(new Set(['ERR_STORE']))
  })

  test('Leases: a token stays good until something replaces it', async () => {
    const { scene, held } = await holding(setup)
    breakRenewals(scene)
    await scene.clock.step(3 * leaseMs)
    expect(held.signal.aborted).toBe(true)
    expect(await held.done()).toBe('idle')
    scene.takeErrors()
  })

  test('Leases: a renewal that is refused aborts the signal', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const [a, b] = await queue.getMany(2)
    const other = scene.queue()
    await scene.inner.finish('q', [{ as: 'release', key: 'a', token: a?.token ?? 0 }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    const theirs = await take(other)
    expect(a?.signal.aborted).toBe(false)
    await scene.clock.step(leaseMs / 3)
    expect(SluiceError.is(a?.signal.reason, 'ERR_LEASE_LOST')).toBe(true)
    expect([b?.signal.aborted, theirs.signal.aborted]).toEqual([false, false])
    expect(await a?.done()).toBe('lost')
    expect(await scene.states()).toEqual({ a: 'processing', b: 'processing' })
  })

  test('Shutdown: a lost key is not held, so a drain does not wait for it', async () => {
    const { scene, queue, held } = await holding(setup)
    const drained = seen(queue.shutDownWithDrain())
    breakRenewals(scene)
    await scene.clock.step(leaseMs)
    expect([held.signal.aborted, drained.state]).toEqual([true, 'resolved'])
    scene.takeErrors()
  })

  test('Leases: of two keys that cannot be renewed, each signal is aborted in time', async () => {
    const scene = new Scene(setup)
    // Such a lease is looked at every 567 ms, and its signal is aborted 250 ms before its end.
    const queue = scene.queue({ leaseMs: 1_700 })
    await queue.addMany(['a', 'b'])
    const a = await take(queue)
    await scene.clock.step(10)
    const b = await take(queue)
    breakRenewals(scene)
    await scene.clock.step(1_449)
    expect([a.signal.aborted, b.signal.aborted]).toEqual([true, false])
    await scene.clock.step(1)
    expect(b.signal.aborted).toBe(true)
    scene.takeErrors()
  })

  test('a lease of 100 ms leaves some time to the holder', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ leaseMs: 100 })
    await queue.add('a')
    const held = await take(queue)
    await scene.clock.step(1_000)
    expect(held.signal.aborted).toBe(false)
    expect(await held.done()).toBe('idle')
  })
})

describe.each(leasedSetups)('the end of a lease over $way', (setup) => {
  /** Makes another queue object take the key and vanish. */
  async function vanish(scene: Scene, key: string): Promise<void> {
    await scene.inner.open({ clock: scene.clock })
    const request = { limit: 1, holder: 'gone', claimId: 'gone', leaseMs: 1_000 }
    const { claims } = await scene.inner.claim('q', request)
    expect(claims.map((claim) => claim.key)).toEqual([key])
  }

  test('lease end: the key comes back with a back-off, and counts as failed and crashed', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a', { priority: 3 })
    await vanish(scene, 'a')
    const waiting = seen(queue.get())
    await scene.clock.step(1_004)
    expect(waiting.state).toBe('waiting')
    await scene.clock.step(1)
    expect(waiting.value).toMatchObject({ key: 'a', failures: 1, crashes: 1, priority: 3 })
  })

  test('lease end: the back-off is that of the limiter, without its bucket', async () => {
    const { exponential, maxOf, tokenBucket } = await import('@sluice/limiters')
    const scene = new Scene(setup)
    const bucket = tokenBucket({ name: 'b', perSecond: 0.001, burst: 1 })
    const limiter = maxOf(exponential({ baseMs: 200, maxMs: 60_000 }), bucket)
    const queue = scene.limited({ limiter })
    await queue.add('a')
    await vanish(scene, 'a')
    const waiting = seen(queue.get())
    await scene.clock.step(1_199)
    expect(waiting.state).toBe('waiting')
    await scene.clock.step(1)
    expect(waiting.value?.key).toBe('a')
    const buckets = await scene.inner.buckets?.()
    expect(buckets?.filter(({ tokens }) => tokens < 1)).toEqual([])
  })

  test('Crashes: after maxCrashes the key is parked', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ maxCrashes: 2 })
    await queue.add('a')
    const waiting = seen(queue.getMany(1))
    await scene.quiet()
    await waiting.value?.[0]?.release()
    for (let crash = 0; crash < 2; crash += 1) {
      await vanish(scene, 'a')
      const next = seen(queue.get())
      await scene.clock.step(2_000)
      await next.value?.release()
      if (crash === 1) expect(next.state).toBe('waiting')
    }
    const row = await scene.row('a')
    expect([row?.state, row?.crashes, row?.failures]).toEqual(['parked', 2, 2])
  })

  test('an add made meanwhile and the lost run are merged', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await vanish(scene, 'a')
    await queue.add('a')
    const waiting = seen(queue.get())
    await scene.clock.step(1_000)
    expect(waiting.value?.key).toBe('a')
    expect(await waiting.value?.done()).toBe('idle')
  })

  test('found by a waiter within a heartbeat, also without any notification', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await vanish(scene, 'a')
    await scene.clock.step(500)
    const waiting = seen(queue.get())
    await scene.clock.step(600)
    expect(waiting.value?.key).toBe('a')
  })
})

describe('renewals that hang', () => {
  test('Leases: the local deadline holds for keys taken while a renewal hangs', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const a = await take(queue)
    scene.late.hold('renew')
    await scene.clock.step(leaseMs / 3)
    expect(scene.late.waiting('renew')).toBe(1)
    await scene.clock.step(leaseMs / 3)
    await a.done()
    await scene.clock.step(leaseMs / 4)
    const b = await take(queue)
    await scene.clock.step(leaseMs - margin - 1)
    expect(b.signal.aborted).toBe(false)
    await scene.clock.step(1)
    expect(SluiceError.is(b.signal.reason, 'ERR_LEASE_LOST')).toBe(true)
    scene.late.letGo('renew')
    await scene.quiet()
  })

  test('Leases: a renewal that is silent for a tenth of the lease is sent again in parallel', async () => {
    const time = fakeRealTime()
    const { scene, held } = await holding(late)
    scene.late.hold('renew')
    await scene.clock.step(leaseMs / 3)
    await time.pass(leaseMs / 10 - 50)
    await scene.clock.step(1_000)
    expect(scene.late.waiting('renew')).toBe(1)
    await time.pass(50)
    await scene.clock.step(1_000)
    expect(scene.late.waiting('renew')).toBe(2)
    await time.pass(leaseMs / 10)
    scene.late.letGo('renew')
    await scene.clock.step(2 * leaseMs)
    expect(held.signal.aborted).toBe(false)
  })

  test('Leases: a silent connection costs none, if the others answer', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const helds = await queue.getMany(2)
    scene.late.hold('renew')
    await scene.clock.step(leaseMs / 3)
    expect(scene.late.waiting('renew')).toBe(1)
    // The first one is never answered; those that are sent from now on are.
    scene.late.abandon('renew')
    for (let second = 0; second < 3 * 30; second += 1) {
      await time.pass(1_000)
      await scene.clock.step(1_000)
    }
    expect(helds.map(({ signal }) => signal.aborted)).toEqual([false, false])
    expect(await queue.doneMany(helds)).toEqual(['idle', 'idle'])
  })

  test('Leases: a key whose renewal failed is renewed again alone, before the next third', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const [a, b] = await queue.getMany(2)
    const { inner } = scene
    const renew = inner.renew.bind(inner)
    const locked = new SluiceError('ERR_STORE_BUSY', 'locked', { retryable: true })
    let failures = 2
    inner.renew = async (name, leases, ms) => {
      const replies = await renew(name, leases, ms)
      return replies.map((reply, at) =>
        leases[at]?.key === 'a' && failures-- > 0 ? { outcome: 'failed', error: locked } : reply,
      )
    }
    await scene.clock.step((2 * leaseMs) / 3 - 1)
    const asked = scene.late.requests('renew') as { key: string }[][]
    expect(asked.map((leases) => leases.map(({ key }) => key))).toEqual([['a', 'b'], ['a'], ['a']])
    expect([a?.signal.aborted, b?.signal.aborted]).toEqual([false, false])
  })

  test('Leases: a batch whose renewal fails does not cost the others theirs', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const keys = Array.from({ length: batchKeysMax + 1 }, (_, at) => `key/${at}`)
    await queue.addMany(keys)
    const helds = [...(await queue.getMany(batchKeysMax)), await take(queue)]
    scene.late.before = ({ verb, request }) => {
      if (verb !== 'renew' || (request as unknown[]).length === 1) return
      throw new SluiceError('ERR_STORE', 'away', { retryable: true })
    }
    await scene.clock.step(leaseMs)
    const lost = helds.filter(({ signal }) => signal.aborted)
    expect([lost.length, helds.at(-1)?.signal.aborted]).toEqual([batchKeysMax, false])
    expect(new Set(scene.takeErrors())).toEqual(new Set(['ERR_STORE']))
  })

  test('Leases: a lease that ends before one that is held already is lost in time', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ timeoutMs: 100 })
    await queue.addMany(['a', 'b'])
    scene.late.hold('claim')
    const first = seen(queue.get())
    // Not a whole number of ticks, so that it is not found by chance.
    await scene.clock.step(leaseMs / 2 + 300)
    scene.late.abandon('claim')
    await time.pass(2_000)
    expect([first.value?.key, ...scene.takeErrors()]).toEqual(['a', 'ERR_TIMEOUT'])
    scene.late.hold('claim')
    scene.late.hold('renew')
    const second = seen(queue.get())
    scene.late.letGo('abandoned')
    await scene.quiet()
    expect(second.value?.key).toBe('b')
    await scene.clock.step(leaseMs / 2 - 300 - margin - 1)
    expect(second.value?.signal.aborted).toBe(false)
    await scene.clock.step(1)
    expect([first.value?.signal.aborted, second.value?.signal.aborted]).toEqual([false, true])
    scene.late.letGo('claim')
    scene.late.letGo('renew')
  })

  test('Leases: the deadline is counted from before the claim was sent', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.hold('claim')
    const waiting = seen(queue.get())
    await scene.clock.step(5_000)
    scene.late.hold('renew')
    scene.late.letGo('claim')
    await scene.quiet()
    await scene.clock.step(leaseMs - margin - 5_000 - 1)
    expect(waiting.value?.signal.aborted).toBe(false)
    await scene.clock.step(1)
    expect(waiting.value?.signal.aborted).toBe(true)
    scene.late.letGo('renew')
  })

  test('a finish under way past the deadline is judged by its own answer', async () => {
    const { scene, held } = await holding(late)
    scene.late.hold('renew')
    scene.late.hold('finish')
    const finishing = seen(held.done())
    await scene.clock.step(leaseMs)
    expect([finishing.state, held.signal.aborted]).toEqual(['waiting', false])
    scene.late.letGo('finish')
    await scene.quiet()
    expect(finishing.value).toBe('idle')
    scene.late.letGo('renew')
  })

  test('a finish under way whose key was claimed again is judged by its own answer', async () => {
    const { scene, queue, held } = await holding(late)
    let answer = () => {}
    scene.late.after = async ({ verb }) => {
      if (verb !== 'finish') return
      scene.late.inFlight -= 1
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      scene.late.inFlight += 1
    }
    const finishing = seen(held.done())
    await queue.add('a')
    const next = await take(queue)
    await scene.clock.step(leaseMs)
    expect([held.signal.aborted, next.signal.aborted]).toEqual([false, false])
    answer()
    await scene.quiet()
    expect(finishing.value).toBe('idle')
  })
})
