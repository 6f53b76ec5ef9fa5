import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import {
  createRateLimitingQueue,
  createWorker,
  SluiceError,
  TerminalError,
} from '../../src/index.ts'
import { leases, setUp } from '../support/worker-setups.ts'

/** A promise that the test settles. */
function gate() {
  return Promise.withResolvers<void>()
}

describe.each(leases)('a worker %s', (_name, leaseMs) => {
  test('runs the handler for each key, and forgets failures of one that went well', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    const seen: string[] = []
    let failsLeft = 2
    const worker = createWorker<string>({
      queue,
      handler: (item, { failures }) => {
        seen.push(`${item}:${failures}`)
        if (item === 'b' && failsLeft-- > 0) throw new Error('not yet')
      },
    })
    await queue.addMany(['a', 'b', 'c'])
    await clock.step(100)
    expect(seen).toEqual(['a:0', 'b:0', 'c:0', 'b:1', 'b:2'])
    expect(await row('b')).toBeUndefined()
    await worker.stop()
    await queue.close()
  })

  test('runs as many handlers at a time as its concurrency, and no key twice at once', async () => {
    const { queue, clock } = setUp(leaseMs)
    const open = gate()
    let running = 0
    let most = 0
    const worker = createWorker<string>({
      queue,
      concurrency: 3,
      handler: async () => {
        running += 1
        most = Math.max(most, running)
        await open.promise
        running -= 1
      },
    })
    await queue.addMany(['a', 'b', 'c', 'd', 'e'])
    await clock.step(0)
    expect(worker.running).toBe(3)
    expect(await queue.add('a')).toBe('added')
    await clock.step(0)
    expect(worker.running).toBe(3)
    open.resolve()
    await worker.runUntilIdle()
    expect(most).toBe(3)
    await queue.close()
  })

  test('parks a key whose last allowed run has failed, and keeps adds made meanwhile', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    let runs = 0
    const worker = createWorker<string>({
      queue,
      maxFailures: 3,
      handler: async (item) => {
        runs += 1
        if (runs === 3) await queue.add(item)
        throw new Error(`no ${runs}`)
      },
    })
    await queue.add('a')
    await clock.step(10_000)
    expect(runs).toBe(3)
    const parked = await row('a')
    expect(parked).toMatchObject({ state: 'parked', failures: 3 })
    expect(JSON.parse(parked?.lastError ?? '')).toMatchObject({ message: 'no 3' })
    expect(parked?.dueAt).toBeLessThan(Infinity)
    await worker.stop()
    await queue.close()
  })

  test('drops a key whose last allowed run has failed, if onExhausted says so', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    const asked: unknown[] = []
    const worker = createWorker<string>({
      queue,
      maxFailures: 1,
      onExhausted: (held, error) => {
        asked.push([held.key, (error as Error).message])
        return 'drop'
      },
      handler: () => {
        throw new Error('no')
      },
    })
    await queue.add('a')
    await clock.step(0)
    expect(asked).toEqual([['a', 'no']])
    expect(await row('a')).toBeUndefined()
    await worker.stop()
    await queue.close()
  })

  test('leaves a key as onExhausted has finished it', async () => {
    const { queue, clock, row, errors } = setUp(leaseMs)
    const worker = createWorker<string>({
      queue,
      maxFailures: 1,
      onError: () => undefined,
      onExhausted: async (held): Promise<'park'> => {
        await held.done({ forget: true })
        return 'park'
      },
      handler: () => {
        throw new Error('no')
      },
    })
    await queue.add('a')
    await clock.step(20_000)
    const [seen] = await queue.inspect.workers()
    expect(seen?.stats).toMatchObject({ runs: 1, finishing: 0, lost: 0 })
    expect([await row('a'), errors]).toEqual([undefined, []])
    await worker.stop()
    await queue.close()
  })

  test.each([
    ['ends well', 'is done', () => undefined, undefined],
    [
      'fails',
      'is released',
      () => Promise.reject(new Error('no')),
      { state: 'ready', failures: 0 },
    ],
  ])('a run that %s though the worker told it to end %s', async (_ends, _is, end, left) => {
    const { queue, clock, row } = setUp(leaseMs)
    const worker = createWorker<string>({
      queue,
      handler: async (_item, { signal }) => {
        await once(signal, 'abort')
        await end()
      },
    })
    await queue.add('a')
    await clock.step(0)
    const stopping = worker.stop({ graceMs: 5 })
    await clock.step(5)
    await stopping
    const stored = await row('a')
    expect(stored && { state: stored.state, failures: stored.failures }).toEqual(left)
    await queue.close()
  })

  test.each(['forget', 'park'] as const)('a terminal error: %s', async (onTerminal) => {
    const { queue, clock, row } = setUp(leaseMs)
    const errors: unknown[] = []
    const worker = createWorker<string>({
      queue,
      onTerminal,
      onError: (error) => errors.push(error),
      handler: () => {
        throw new TerminalError('never')
      },
    })
    await queue.add('a')
    await clock.step(10_000)
    expect(errors).toHaveLength(1)
    expect((await row('a'))?.state).toBe(onTerminal === 'park' ? 'parked' : undefined)
    await worker.stop()
    await queue.close()
  })

  test('any value can be thrown, and none stops the worker', async () => {
    const { queue, clock } = setUp(leaseMs)
    const thrown: unknown[] = [null, undefined, Symbol('no'), 0, 'text', Object.create(null)]
    const errors: unknown[] = []
    let runs = 0
    const worker = createWorker<string>({
      queue,
      onError: (error) => errors.push(error),
      handler: () => {
        runs += 1
        if (thrown.length > 0) throw thrown.shift()
      },
    })
    await queue.add('a')
    await clock.step(10_000)
    expect(runs).toBe(7)
    expect(errors).toHaveLength(6)
    await worker.stop()
    await queue.close()
  })

  test('aborts a handler that takes too long, and abandons one that does not stop', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    const stuck = gate()
    const reasons: unknown[] = []
    const errors: [code: unknown, key: string | undefined][] = []
    const worker = createWorker<string>({
      queue,
      timeoutMs: 100,
      abandonMs: 1_000,
      onError: (error, held) => errors.push([(error as SluiceError).code, held?.key]),
      handler: async (item, { signal }) => {
        if (item === 'b') return
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        await stuck.promise
      },
    })
    await queue.addMany(['a', 'b'])
    await clock.step(100)
    expect(SluiceError.is(reasons[0], 'ERR_HANDLER_TIMEOUT')).toBe(true)
    expect(worker.running).toBe(1)
    expect(await row('b')).toMatchObject({ state: 'ready' })
    expect(errors).toEqual([])
    await clock.step(1_000)
    expect(errors).toEqual([['ERR_HANDLER_TIMEOUT', 'a']])
    expect(await row('b')).toBeUndefined()
    // Nothing is released under a running handler: only its lease, if it has one, can end that.
    expect(await row('a')).toMatchObject({ state: 'processing' })
    stuck.resolve()
    await clock.step(0)
    // Without a lease, nothing else would ever bring it back.
    if (leaseMs === Infinity) expect(await row('a')).toBeUndefined()
    else expect(await row('a')).toMatchObject({ state: 'processing' })
    await worker.stop()
    const closing = queue.close()
    await clock.step(1_000)
    await closing
  })

  test('stop waits for the grace, then aborts, then abandons handlers that do not end', async () => {
    const { queue, clock, row, errors } = setUp(leaseMs)
    const polite = gate()
    const worker = createWorker<string>({
      queue,
      concurrency: 2,
      handler: (item, { signal }) =>
        new Promise<void>((resolve, reject) => {
          if (item === 'polite') signal.addEventListener('abort', () => reject(signal.reason))
          else void polite.promise.then(resolve)
        }),
    })
    await queue.addMany(['polite', 'rude'])
    await clock.step(0)
    let isStopped = false
    const stopping = worker.stop({ graceMs: 500 }).then(() => {
      isStopped = true
    })
    await clock.step(499)
    expect(await row('polite')).toMatchObject({ state: 'processing' })
    await clock.step(1)
    expect(await row('polite')).toMatchObject({ state: 'ready', failures: 0 })
    expect(isStopped).toBe(false)
    await clock.step(1_000)
    await stopping
    expect(errors).toMatchObject([{ code: 'ERR_CLOSING' }])
    expect(String(errors[0])).toContain('before these keys were given back: "rude"; they ')
    expect(await row('rude')).toMatchObject({ state: 'processing' })
    polite.resolve()
    const closing = queue.close()
    await clock.step(1_000)
    await closing
    expect(errors).toHaveLength(1)
  })

  test.each(['stop', 'close'] as const)(
    'a run that ends because of a %s has not failed, whatever it throws',
    async (end) => {
      const { queue, clock, row } = setUp(leaseMs)
      const told: unknown[] = []
      const worker = createWorker<string>({
        queue,
        concurrency: 3,
        maxFailures: 1,
        onError: (error, held) => told.push([String(error), held?.key]),
        handler: (key, { signal }) =>
          new Promise<void>((_, reject) => {
            const error = key === 'terminal' ? new TerminalError('given up') : new Error('aborted')
            signal.addEventListener('abort', () => reject(error))
          }),
      })
      await queue.addMany(['a', 'terminal'], { priority: 3 })
      await clock.step(0)
      const ending = end === 'stop' ? worker.stop({ graceMs: 0 }) : queue.close({ graceMs: 0 })
      await clock.step(1_000)
      await ending
      await worker.stopped
      expect(await row('a')).toMatchObject({ state: 'ready', failures: 0, priority: 3 })
      // What a retry cannot fix is not repeated after a stop either.
      expect(await row('terminal')).toBeUndefined()
      expect(told).toEqual([['TerminalError: given up', 'terminal']])
      if (end === 'stop') await queue.close()
    },
  )

  test('ends when its queue is shut down, after keys that come back meanwhile', async () => {
    const { queue, clock } = setUp(leaseMs)
    const open = gate()
    const seen: string[] = []
    const worker = createWorker<string>({
      queue,
      concurrency: 2,
      handler: async (item) => {
        seen.push(item)
        await open.promise
      },
    })
    await queue.add('a')
    await clock.step(0)
    expect(await queue.add('a')).toBe('added')
    await queue.shutDown()
    open.resolve()
    await worker.stopped
    expect(seen).toEqual(['a', 'a'])
    await queue.close()
  })

  test('runUntilIdle runs due keys, leaves delayed ones, and stops', async () => {
    const { queue, row } = setUp(leaseMs)
    const seen: string[] = []
    await queue.addMany(['a', 'b'])
    await queue.addAfter('later', 1_000)
    const worker = createWorker<string>({
      queue,
      handler: async (item) => {
        seen.push(item)
        if (item === 'a') await queue.add('c')
      },
    })
    await worker.runUntilIdle()
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(await row('later')).toMatchObject({ state: 'delayed' })
    await queue.add('d')
    await expect(worker.runUntilIdle()).rejects.toMatchObject({
      code: 'ERR_CLOSED',
      message: expect.stringContaining('createWorker'),
    })
    expect(seen).toEqual(['a', 'b', 'c'])
    await queue.close()
  })

  test('runUntilIdle rejects on a closed queue, whose keys it cannot run', async () => {
    const { queue } = setUp(leaseMs)
    await queue.add('a')
    await queue.close()
    const worker = createWorker<string>({ queue, handler: () => undefined })
    await expect(worker.runUntilIdle()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })
})

test('a worker abandons a handler that does not stop when its lease is lost, and no other', async () => {
  const leaseMs = 30_000
  const { queue, clock, driver } = setUp(leaseMs)
  const errors: unknown[] = []
  const seen: string[] = []
  const fine = gate()
  const worker = createWorker<string>({
    queue,
    concurrency: 2,
    abandonMs: 1_000,
    onError: (error) => errors.push(error),
    handler: (item, { signal }) => {
      seen.push(item)
      const { promise } = item === 'fine' ? fine : gate()
      signal.onabort = () => seen.push(`${item}: ${(signal.reason as SluiceError).code}`)
      return item === 'b' ? undefined : promise
    },
  })
  await queue.addMany(['stuck', 'fine', 'b'])
  driver.renew = (_, held) =>
    held.map(({ key }) => ({ outcome: key === 'fine' ? 'renewed' : 'lost', leaseUntil: 1e6 }))
  await clock.step(leaseMs / 3)
  expect(seen).toEqual(['stuck', 'fine', 'stuck: ERR_LEASE_LOST'])
  await clock.step(999)
  expect(worker.running).toBe(2)
  await clock.step(1)
  expect(seen).toEqual(['stuck', 'fine', 'stuck: ERR_LEASE_LOST', 'b'])
  expect(worker.running).toBe(1)
  expect(errors).toMatchObject([{ code: 'ERR_HANDLER_TIMEOUT' }])
  fine.resolve()
  await worker.stop()
  await queue.close()
})

test('bad options are refused at once, naming the parameter', () => {
  const queue = createRateLimitingQueue<string>({})
  const handler = () => undefined
  const bad: [Record<string, unknown>, string][] = [
    [{ queue: {}, handler }, 'queue'],
    [{ queue }, 'handler'],
    [{ queue, handler, concurrency: 0 }, 'concurrency'],
    [{ queue, handler, timeoutMs: -1 }, 'timeoutMs'],
    [{ queue, handler, blockedMs: 0 }, 'blockedMs'],
    [{ queue, handler, abandonMs: -1 }, 'abandonMs'],
    [{ queue, handler, maxFailures: 0 }, 'maxFailures'],
    [{ queue, handler, onExhausted: 'explode' }, 'onExhausted'],
    [{ queue, handler, onTerminal: 'explode' }, 'onTerminal'],
    [{ queue, handler, onError: 'ignore' }, 'onError'],
    [{ queue, handler, concurency: 2 }, 'concurency'],
    [queue as never, 'options'],
  ]
  for (const [options, parameter] of bad) {
    expect(() => createWorker(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }),
    )
  }
})
