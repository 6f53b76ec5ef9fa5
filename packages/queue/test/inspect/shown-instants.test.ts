import { describe, expect, test } from 'vitest'
import { createWorker, inspectStore, tokenBucket } from '../../src/index.ts'
import { late, Scene, take } from '../support/setups.ts'

const hour = 3_600_000

/** Every instant in an answer, by where it stands. */
function instants(answer: unknown, path = ''): [string, number][] {
  if (typeof answer === 'number') {
    return /(At|Until|Since|\bat|\bnow)$/.test(path) ? [[path, answer]] : []
  }
  if (typeof answer !== 'object' || answer === null) return []
  return Object.entries(answer).flatMap(([name, value]) => instants(value, `${path}.${name}`))
}

/** A store with a key in each state, a worker and a bucket, and all that can be seen of it. */
async function busy() {
  const scene = new Scene(late)
  const queue = scene.limited({ limiter: tokenBucket({ name: 'b', perSecond: 1, burst: 1 }) })
  await queue.addMany(['held', 'dirty', 'failed'])
  const worker = createWorker({ queue, handler: () => Promise.withResolvers<void>().promise })
  await scene.clock.step(500)
  const other = scene.delaying()
  const [dirty, failed] = [await take(other), await take(other)]
  await queue.add('dirty')
  await failed.retry()
  await queue.addRateLimited('bucket')
  await queue.addRateLimited('bucket')
  await other.addAfter('delayed', 50_000)
  await queue.add('delayed')
  await scene.clock.step(10_000)
  const store = inspectStore(scene.driver, { clock: scene.clock })
  scene.keep(store)
  const { inspect } = queue
  const answers = async () => ({
    list: await inspect.list(),
    held: await inspect.get('held'),
    explained: await Promise.all(
      ['held', 'dirty', 'delayed', 'bucket', 'failed'].map((key) => inspect.explain(key)),
    ),
    oldest: await inspect.oldest(),
    counts: await inspect.counts(),
    workers: await inspect.workers(),
    buckets: await store.buckets(),
    store: { now: await store.now() },
    addedAt: dirty.addedAt,
  })
  return { scene, answers, worker }
}

describe('Time: instants of a store whose time is ahead of its wall clock', () => {
  test('is shown by the wall clock, and all else is as it was', async () => {
    const { scene, answers, worker } = await busy()
    const before = await answers()
    scene.late.ahead = hour
    const after = await answers()
    const found = instants(before)
    expect(instants(after)).toEqual(found.map(([path, instant]) => [path, instant - hour]))
    // All of them were there to be seen.
    const names = new Set(found.map(([path]) => path.split('.').at(-1)))
    expect(names).toEqual(
      new Set([
        ...['addedAt', 'askedAt', 'at', 'dirtySince', 'dueAt', 'failedAt', 'heldUntil'],
        ...[
          'inspectedAt',
          'laterAt',
          'leaseUntil',
          'now',
          'oldestReadyAt',
          'readyAt',
          'seenAt',
          'startedAt',
        ],
      ]),
    )
    void worker.stop({ graceMs: 0 })
    await scene.clock.step(2_000)
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })
})
