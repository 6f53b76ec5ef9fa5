import { delayMsMax } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  createWorker,
  type HandlerResult,
  type Held,
  type Limiter,
  lowPriority,
  SluiceError,
  TerminalError,
  tokenBucket,
} from '../../src/index.ts'
import { nextTurn } from '../support/late-driver.ts'
import { late, leased, Scene, setups, take } from '../support/setups.ts'

/** Runs one key through a worker whose first run ends in a certain way. */
async function runOnce(scene: Scene, end: () => HandlerResult, options: object = {}) {
  const queue = scene.limited()
  // Two failed runs come before, so that the test sees whether they are forgotten.
  await queue.add('k', { priority: 7 })
  await (await take(queue)).retry()
  await queue.inspect.runNow('k')
  await (await take(queue)).retry()
  await queue.inspect.runNow('k')
  let runs = 0
  const worker = createWorker({
    queue,
    handler: () => {
      runs += 1
      return runs === 1 ? end() : undefined
    },
    ...options,
  })
  await scene.clock.step(0)
  const row = await scene.row('k')
  await worker.stop()
  return row
}

// The rules by which a controller of controller-runtime runs.
describe.each(setups)('a controller, over $way', (setup) => {
  test('28 low priority comes after everything else, and an event raises it', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['initial/1', 'initial/2'], { priority: lowPriority })
    await queue.add('event')
    await queue.add('initial/2')
    const seen: string[] = []
    const worker = createWorker({
      queue,
      handler: (item, { priority }) => {
        seen.push(`${item} at ${priority}`)
      },
    })
    await worker.runUntilIdle()
    expect(seen).toEqual(['event at 0', 'initial/2 at 0', 'initial/1 at -100'])
  })

  test('success forgets', async () => {
    expect(await runOnce(new Scene(setup), () => undefined)).toBeUndefined()
  })

  test('an error comes back through the limiter, at its priority', async () => {
    const fail = () => {
      throw new Error('no')
    }
    const row = await runOnce(new Scene(setup), fail)
    expect(row).toMatchObject({ state: 'backoff', failures: 3, priority: 7 })
  })

  test("a terminal error ends it, and forgets nothing with onTerminal: 'done'", async () => {
    const fail = () => {
      throw new TerminalError('never')
    }
    const row = await runOnce(new Scene(setup), fail, { onTerminal: 'done' })
    expect(row).toMatchObject({ state: 'idle', failures: 2 })
    expect(await runOnce(new Scene(setup), fail)).toBeUndefined()
  })

  test('a terminal error of another copy of the package ends it, too', async () => {
    const copyPath = '../../src/worker/terminal-error.ts?copy'
    const copy = (await import(copyPath)) as { TerminalError: typeof TerminalError }
    expect(copy.TerminalError).not.toBe(TerminalError)
    const fail = () => {
      throw new copy.TerminalError('never')
    }
    expect(await runOnce(new Scene(setup), fail)).toBeUndefined()
  })

  test('requeueAfterMs forgets, and comes back then at its priority', async () => {
    const scene = new Scene(setup)
    const row = await runOnce(scene, () => ({ requeueAfterMs: 5_000 }))
    expect(row).toMatchObject({ state: 'delayed', failures: 0, priority: 7 })
    expect(row?.dueAt).toBe(scene.clock.now() + 5_000)
  })

  test.each([
    ['of its own', 30_000, 30_000],
    ['shorter than that of the limiter', 1, 1],
    ['of more than ten years', Infinity, delayMsMax],
    ['of zero, which is none', 0, 20],
    ['below zero, which is none', -1, 20],
    ['that is not a number', Number.NaN, 20],
    ['in a text', '30000', 20],
  ])('an error comes back after a delay %s', async (_, retryAfterMs, delayMs) => {
    const scene = new Scene(setup)
    const row = await runOnce(scene, () => {
      throw Object.assign(new Error('busy'), { retryAfterMs })
    })
    expect(row).toMatchObject({ state: 'backoff', failures: 3, priority: 7 })
    expect(row?.dueAt).toBe(scene.clock.now() + delayMs)
  })

  test('a loop of its own gives the delay of an error to retry', async () => {
    const scene = new Scene(setup)
    const counted: string[] = []
    const limiter: Limiter<string> = {
      when: (item) => counted.push(item),
      forget: () => undefined,
      numRequeues: () => counted.length,
    }
    const queue = scene.limited<string>({ limiter })
    await queue.add('k')
    const busy = Object.assign(new Error('busy'), { retryAfterMs: 30_000 })
    expect(await (await take(queue)).retry(busy)).toBe('delayed')
    expect(await scene.row('k')).toMatchObject({
      state: 'backoff',
      failures: 1,
      dueAt: scene.clock.now() + 30_000,
    })
    expect(counted, 'a limiter that counts in this process counts it, too').toEqual(['k'])
  })

  test('a delay of an error takes no token of a bucket', async () => {
    const scene = new Scene(setup)
    const limiter = tokenBucket({ name: 'shared', perSecond: 1, burst: 1 })
    const queue = scene.limited<string>({ limiter })
    await queue.addMany(['busy', 'b', 'c'])
    await (await take(queue)).retry(Object.assign(new Error('busy'), { retryAfterMs: 30_000 }))
    expect(await (await take(queue)).retry(new Error('takes the token'))).toBe('ready')
    expect(await (await take(queue)).retry(new Error('waits for the next one'))).toBe('delayed')
  })

  test('Crashes: maxFailures counts no crash that came before', async () => {
    const scene = new Scene(setup)
    const { clock, driver } = scene
    const queue = scene.limited()
    await queue.add('k')
    const asOther = { limit: 1, holder: 'gone', claimId: 'gone', leaseMs: 100 }
    const { claims } = await driver.claim('q', asOther)
    await clock.step(100)
    await driver.expire('q', claims, { dedupe: 'client-go', maxCrashes: 5 })
    await queue.inspect.runNow('k')
    const fail = () => {
      throw new Error('no')
    }
    const ends: unknown[] = []
    const onExhausted = (_held: unknown, error: unknown) => {
      ends.push(error)
      return 'park' as const
    }
    const worker = createWorker({ queue, handler: fail, maxFailures: 2, onExhausted })
    await clock.step(0)
    expect(ends).toEqual([])
    expect(await scene.row('k')).toMatchObject({ state: 'backoff', failures: 2, crashes: 0 })
    await clock.step(1_000)
    expect(ends).toHaveLength(1)
    expect(await scene.row('k')).toMatchObject({ state: 'parked', failures: 3 })
    await worker.stop()
  })

  test('requeue comes back through the limiter, at its priority', async () => {
    const row = await runOnce(new Scene(setup), () => ({ requeue: true }))
    expect(row).toMatchObject({ state: 'backoff', failures: 3, priority: 7 })
  })

  test('a handler may decide by a condition whether its key comes back', async () => {
    const results: HandlerResult[] = [false, true].map((requeue) => ({ requeue }))
    const [done, again] = results
    expect(await runOnce(new Scene(setup), () => done)).toBeUndefined()
    expect(await runOnce(new Scene(setup), () => again)).toMatchObject({ state: 'backoff' })
  })

  test.each([
    [
      { requeueAfterMs: 5_000, priority: -3 },
      { state: 'delayed', failures: 0, priority: -3 },
    ],
    [
      { requeue: true, priority: 9 },
      { state: 'backoff', failures: 3, priority: 9 },
    ],
  ] as const)('a result decides the priority: %o', async (result, expected) => {
    expect(await runOnce(new Scene(setup), () => result)).toMatchObject(expected)
  })

  test('a priority that is none counts as a failure', async () => {
    const errors: unknown[] = []
    const row = await runOnce(new Scene(setup), () => ({ requeueAfterMs: 1, priority: 0.5 }), {
      onError: (error: unknown) => errors.push(error),
    })
    expect(row).toMatchObject({ state: 'backoff', failures: 3, priority: 7 })
    expect(errors).toHaveLength(1)
  })

  test('an onExhausted that fails parks the key, where operators see it', async () => {
    const fail = () => {
      throw new Error('no')
    }
    const errors: unknown[] = []
    const row = await runOnce(new Scene(setup), fail, {
      maxFailures: 1,
      onExhausted: () => {
        throw new Error('cannot decide')
      },
      onError: (error: unknown) => errors.push(String(error)),
    })
    expect(row).toMatchObject({ state: 'parked' })
    expect(errors).toEqual(['Error: no', 'Error: cannot decide'])
  })

  test('an onExhausted that returns another word parks the key, and that is reported', async () => {
    const fail = () => {
      throw new Error('no')
    }
    const errors: unknown[] = []
    const row = await runOnce(new Scene(setup), fail, {
      maxFailures: 1,
      onExhausted: () => 'delete',
      onError: (error: unknown) => errors.push(error),
    })
    expect(row).toMatchObject({ state: 'parked' })
    expect(errors).toEqual([
      expect.any(Error),
      expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter: 'onExhausted(held)' }),
    ])
  })

  test('an onExhausted that has finished the key itself returns nothing', async () => {
    const errors: unknown[] = []
    const row = await runOnce(
      new Scene(setup),
      () => {
        throw new Error('no')
      },
      {
        maxFailures: 1,
        onExhausted: async (held: Held<string>) => void (await held.retry()),
        onError: (error: unknown) => errors.push((error as Error).message),
      },
    )
    expect(row).toMatchObject({ state: 'backoff' })
    expect(errors).toEqual(['no'])
  })

  test('a key that comes back needs no room', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited({ maxPending: 1 })
    await queue.add('k')
    const worker = createWorker({
      queue,
      handler: async (item) => {
        if (item === 'k') await queue.add('other')
        return item === 'k' ? { requeueAfterMs: 5_000 } : undefined
      },
    })
    await scene.clock.step(0)
    expect(await scene.row('k')).toMatchObject({ state: 'delayed', failures: 0 })
    await worker.stop()
  })

  test('a key that comes back keeps the item that was added last', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<{ version: number }>({ keyOf: () => 'k' })
    await queue.add({ version: 1 })
    const worker = createWorker({
      queue,
      handler: async () => {
        await queue.add({ version: 2 })
        await queue.cancel({ version: 2 })
        return { requeueAfterMs: 5_000 }
      },
    })
    await scene.clock.step(0)
    expect(await scene.row('k')).toMatchObject({ state: 'delayed', item: '{"version":2}' })
    await worker.stop()
  })
})

test.each([{ requeueAfterMs: 5_000 }, { requeue: true, priority: 3 }] as const)(
  'a key comes back by one write, which a stale holder cannot make: %o',
  async (result) => {
    const scene = new Scene(late)
    const queue = scene.limited()
    await queue.add('k')
    const worker = createWorker({
      queue,
      handler: async () => {
        const row = await scene.row('k')
        // Another holder has finished the key meanwhile.
        const done = { as: 'done', key: 'k', token: row?.token ?? 0, forget: true } as const
        await scene.inner.finish('q', [done], { dedupe: 'client-go', failuresExpireMs: 1_000 })
        return result
      },
    })
    await scene.clock.step(0)
    expect(await scene.row('k')).toBeUndefined()
    expect([scene.late.count('add'), scene.late.count('finish')]).toEqual([1, 1])
    await worker.stop()
  },
)

// real time: trouble with a store is waited out in real time, whatever clock is given.
test('a finished run is acknowledged as soon as the store is back', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  await queue.add('k')
  let runs = 0
  let failuresLeft = 2
  scene.late.before = async ({ verb }) => {
    await nextTurn()
    if (verb !== 'finish' || failuresLeft === 0) return
    failuresLeft -= 1
    throw new SluiceError('ERR_STORE', 'away', { retryable: true })
  }
  const told: unknown[] = []
  const worker = createWorker({
    queue,
    onError: (error) => told.push(error),
    handler: () => {
      runs += 1
    },
  })
  await expect.poll(async () => await scene.row('k')).toBeUndefined()
  expect(runs).toBe(1)
  expect(told).toHaveLength(1)
  await worker.stop()
})

test('a store that stays away costs the key its lease, and a stop does not wait for it', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  await queue.add('k')
  scene.late.before = async ({ verb }) => {
    await nextTurn()
    if (verb === 'finish') throw new SluiceError('ERR_STORE', 'away', { retryable: true })
  }
  const worker = createWorker({ queue, handler: () => undefined })
  await scene.clock.step(0)
  const stopping = worker.stop({ graceMs: 500 })
  await scene.clock.step(1_500)
  await stopping
  expect(await scene.row('k')).toMatchObject({ state: 'processing' })
  expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  scene.late.before = nextTurn
})

test('a stop with wrong options is refused, and the worker goes on', async () => {
  const scene = new Scene(leased)
  const queue = scene.queue()
  await using worker = createWorker({ queue, handler: () => undefined })
  for (const [options, parameter] of [
    [{ graceMs: -1 }, 'graceMs'],
    [{ grace: 1 }, 'grace'],
  ] as const) {
    const refused = expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter })
    await expect(worker.stop(options as never)).rejects.toEqual(refused)
  }
  expect(worker.health().ready).toBe(true)
})

test('a worker is stopped by its scope', async () => {
  const scene = new Scene(leased)
  const queue = scene.queue()
  const worker = createWorker({ queue, handler: () => undefined })
  await worker[Symbol.asyncDispose]()
  expect(worker.health().reasons).toEqual(['STOPPED'])
})
