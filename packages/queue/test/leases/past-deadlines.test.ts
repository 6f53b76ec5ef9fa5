import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { nextTurn } from '../support/late-driver.ts'
import { fakeRealTime, type RealTime } from '../support/real-time.ts'
import { late, Scene, SteppedWorker } from '../support/setups.ts'

/** This process trusts a lease for 27 s, and tries again within a second; in the store it ends after 30 s. */
const pastDeadlineMs = 29_000

/** Lets the store's time and that of attempts pass together. */
async function passDeadline(scene: Scene, time: RealTime): Promise<void> {
  for (let ms = 0; ms < pastDeadlineMs; ms += 1_000) {
    await scene.clock.step(1_000)
    await time.pass(1_000)
  }
}

/** From now on the store makes none of these calls; returns what ends that. */
function outage(scene: Scene, verbs: readonly string[]): () => void {
  scene.late.before = async ({ verb }) => {
    await nextTurn()
    if (!verbs.includes(verb)) return
    throw new SluiceError('ERR_STORE', 'away', { retryable: true })
  }
  return () => {
    scene.late.before = nextTurn
  }
}

// A process that lives gives back what it was handed, also when it does not trust the lease any more:
// the token guards the key, and a lease that ends counts a crash.
describe('past the local deadline of a lease', () => {
  test('a key that was claimed ahead and never started is given back', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 5 })
    await queue.addMany(['first', 'second'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    expect((await scene.row('second'))?.state).toBe('processing')
    const end = outage(scene, ['finish', 'renew'])
    await passDeadline(scene, time)
    end()
    await time.pass(2_000)
    expect(await scene.row('second')).toMatchObject({ state: 'ready', failures: 0, crashes: 0 })
    scene.takeErrors()
    stepped.end()
  })

  test('a run that has ended is finished', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    let runs = 0
    const told: unknown[] = []
    const end = outage(scene, ['finish', 'renew'])
    const worker = createWorker({
      queue,
      onError: (error) => told.push(error),
      handler: () => {
        runs += 1
      },
    })
    await scene.quiet()
    await passDeadline(scene, time)
    end()
    await time.pass(2_000)
    expect([runs, await scene.row('a')]).toEqual([1, undefined])
    expect(worker.finishing).toBe(0)
    expect(told).toHaveLength(1)
    scene.takeErrors()
    const stopping = worker.stop()
    await scene.clock.step(0)
    await stopping
  })

  test('a run whose key has another holder by then is counted as lost, and not repeated', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    const end = outage(scene, ['finish', 'renew'])
    const worker = createWorker({ queue, onError() {}, handler() {} })
    await scene.quiet()
    const { token = 0 } = (await scene.row('a')) ?? {}
    await passDeadline(scene, time)
    await scene.inner.finish('q', [{ as: 'release', key: 'a', token }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    const request = { limit: 1, holder: 'other', claimId: 'other', leaseMs: 300_000 }
    const { claims } = await scene.inner.claim('q', request)
    const before = scene.late.count('finish')
    end()
    await time.pass(5_000)
    expect(await scene.row('a')).toMatchObject({ state: 'processing', token: claims[0]?.token })
    expect([worker.finishing, scene.late.count('finish') - before]).toEqual([0, 1])
    scene.takeErrors()
    const stopping = worker.stop()
    await scene.clock.step(0)
    await stopping
  })
})
