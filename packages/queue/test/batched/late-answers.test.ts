import type { Ask } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, test } from 'vitest'
import { createDelayingQueue, createQueue, createWorker } from '../../src/index.ts'
import { LateDriver } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, seen } from '../support/setups.ts'

const askOptions = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const

function askFor(key: string): Ask {
  return { key, item: undefined, priority: 0, delayMs: 0 }
}

describe('the time of a store', () => {
  test('a key that is due is handed out on time though an answer was late', async () => {
    const time = fakeRealTime({ withDate: true })
    const driver = new LateDriver(memoryDriver())
    const queue = createQueue<string>({ name: 'q', driver, leaseMs: 30_000 })
    withoutHints(driver)
    let lateMs = 0
    driver.after = async ({ verb }) => {
      if (verb !== 'claim' || lateMs === 0) return
      lateMs = 0
      // real time: is under control here.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
    const waiting = seen(queue.get())
    await time.pass(100)
    lateMs = 1_000
    const delaying = createDelayingQueue<string>({ queue })
    await delaying.addAfter('k', 1_500)
    await time.pass(1_550)
    expect(waiting.value?.key).toBe('k')
    const closing = seen(queue.close())
    await time.pass(2_000)
    expect(closing.state).toBe('resolved')
  })

  test('under a given clock it is that of the clock, also while an answer is under way', async () => {
    const scene = new Scene(late)
    withoutHints(scene.late)
    const queue = scene.delaying()
    const waiting = seen(queue.get())
    await scene.quiet()
    const answers = holdBackAnswer(scene, 'claim')
    await queue.addAfter('k', 1_000)
    await scene.quiet()
    expect(answers).toHaveLength(1)
    await scene.clock.step(1_000)
    for (const answer of answers) answer()
    await scene.quiet()
    await scene.clock.step(1)
    expect(waiting.value?.key).toBe('k')
  })
})

test('an answer that was overtaken by a later one delays no key', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  const started: string[] = []
  const worker = createWorker({ queue, handler: (item) => void started.push(item) })
  await scene.clock.step(1)
  // The heartbeat asks while nothing is there; its answer comes last.
  const answers = holdBackAnswer(scene, 'tick')
  await scene.clock.step(10_000)
  expect(answers).toHaveLength(1)
  await scene.inner.add('q', [{ ...askFor('k'), delayMs: 1_100 }], askOptions)
  const { core } = queue as unknown as { core: { wake(): void } }
  core.wake()
  await scene.quiet()
  for (const answer of answers) answer()
  await scene.quiet()
  await scene.clock.step(1_100)
  expect(started).toEqual(['k'])
  await worker.stop()
})

test('keys that another session was faster to take do not delay the next one', async () => {
  const scene = new Scene(late)
  // A hint ends a delay.
  withoutHints(scene.late)
  const queue = scene.queue()
  const waiting = seen(queue.get())
  await scene.quiet()
  const take = async (claimId: string): Promise<void> => {
    const request = { limit: 1, holder: 'h', claimId, leaseMs: 600_000 }
    expect((await scene.inner.claim('q', request)).claims).toHaveLength(1)
  }
  for (const key of ['a', 'b', 'c']) {
    // Each is due when the queue asks for the time, and taken before it claims.
    await scene.inner.add('q', [askFor(key)], askOptions)
    const steps = [
      async () => await take(key),
      async () => await scene.inner.add('q', [askFor(`${key}2`)], askOptions),
      async () => await take(`${key}2`),
    ]
    scene.late.after = async ({ verb }) => {
      if (verb === (steps.length === 2 ? 'claim' : 'tick')) await steps.shift()?.()
    }
    for (let s = 0; s < 30 && steps.length > 0; s += 1) await scene.clock.step(1_000)
    expect(steps).toHaveLength(0)
    await scene.quiet()
  }
  await scene.inner.add('q', [askFor('k')], askOptions)
  const ticks = scene.late.count('tick')
  while (scene.late.count('tick') === ticks) await scene.clock.step(1)
  await scene.quiet()
  expect(waiting.value?.key).toBe('k')
})

test('a key whose lease a claim found expired is handed out as soon as its delay has passed', async () => {
  const scene = new Scene(late)
  withoutHints(scene.late)
  const queue = scene.queue()
  const first = seen(queue.get())
  await scene.clock.step(1)
  await scene.inner.add('q', [askFor('k')], askOptions)
  await scene.inner.claim('q', { limit: 1, holder: 'h', claimId: 'other', leaseMs: 2_000 })
  await scene.clock.step(2_001)
  // The claim for this one is what finds the lease: the next tick is far away.
  const second = seen(queue.get())
  await scene.quiet()
  expect([first.state, second.state]).toEqual(['waiting', 'waiting'])
  await scene.clock.step(5)
  expect(first.value?.key).toBe('k')
})

test('a key that another session has locked does not delay other keys', async () => {
  const scene = new Scene(late)
  withoutHints(scene.late)
  const queue = scene.queue()
  await queue.add('locked')
  // During each claim of the queue, the key is another session's.
  let token = 0
  let meanwhile = (): unknown => undefined
  scene.late.before = async ({ verb }) => {
    if (verb !== 'claim') return
    const request = { limit: 1, holder: 'h', claimId: 'other', leaseMs: 60_000 }
    token = (await scene.inner.claim('q', request)).claims[0]?.token ?? 0
  }
  scene.late.after = async ({ verb }) => {
    if (verb !== 'claim') return
    await scene.inner.finish('q', [{ as: 'release', key: 'locked', token }], askOptions)
    await meanwhile()
  }
  const [first, second, third] = [seen(queue.get()), seen(queue.get()), seen(queue.get())]
  const claimsIn = async (ms: number): Promise<number> => {
    const before = scene.late.count('claim')
    for (let passed = 0; passed < ms; passed += 50) await scene.clock.step(50)
    return scene.late.count('claim') - before
  }
  expect(await claimsIn(10_000)).toBeGreaterThan(5)
  expect(await claimsIn(10_000)).toBeLessThanOrEqual(20)
  await queue.add('own')
  await scene.quiet()
  expect(first.value?.key).toBe('own')
  await claimsIn(10_000)
  await scene.inner.add('q', [askFor('told')], askOptions)
  queue.wake()
  await scene.quiet()
  expect(second.value?.key).toBe('told')
  // It is added while a claim is under way that does not see it.
  await claimsIn(10_000)
  meanwhile = async () => {
    meanwhile = () => undefined
    await scene.inner.add('q', [askFor('late')], askOptions)
    queue.wake()
  }
  while (third.value === undefined && (await claimsIn(50)) === 0);
  await scene.quiet()
  expect(third.value?.key).toBe('late')
})

/** A hint makes a queue ask for the time once more. */
function withoutHints(driver: LateDriver): void {
  Object.assign(driver, { watch: undefined })
}

/** Holds back the next answer to a verb, after it was read; gives how to let it go. */
function holdBackAnswer(scene: Scene, held: string): (() => void)[] {
  const answers: (() => void)[] = []
  scene.late.after = async ({ verb }) => {
    if (verb !== held || answers.length > 0) return
    scene.late.inFlight -= 1
    await new Promise<void>((resolve) => answers.push(resolve))
    scene.late.inFlight += 1
  }
  return answers
}
