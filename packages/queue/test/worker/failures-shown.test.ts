import { Console } from 'node:console'
import process from 'node:process'
import { Writable } from 'node:stream'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import pino from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLogger, format, transports } from 'winston'
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  type Logger,
  memoryDriver,
  type QueueOptions,
  TerminalError,
  type WorkerOptions,
} from '../../src/index.ts'
import { spawnProgram } from '../support/program.ts'
import { fakeRealTime } from '../support/real-time.ts'

class CodedError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** What is written to stderr during a test. */
function stderrLines(): string[] {
  const lines: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    lines.push(String(line).trimEnd())
    return true
  })
  onTestFinished(() => write.mockRestore())
  return lines
}

/** A stream, and the lines that were written to it. */
function sink(): { lines: string[]; stream: Writable } {
  const lines: string[] = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(...String(chunk).trimEnd().split('\n'))
      done()
    },
  })
  return { lines, stream }
}

interface Working {
  readonly clock: FakeClock
  add(key: string): Promise<unknown>
}

/** A worker whose failed keys come back after 10 ms. */
function working(
  handler: WorkerOptions<string>['handler'],
  options: Partial<QueueOptions<string>> = {},
  more: Partial<WorkerOptions<string>> = {},
): Working {
  const clock = fakeClock()
  const queue = createRateLimitingQueue<string>({
    name: 'orders',
    clock,
    limiter: exponential({ baseMs: 10, maxMs: 10 }),
    ...options,
  })
  const worker = createWorker({ queue, handler, ...more })
  onTestFinished(async () => {
    await worker.stop()
    await queue.close()
  })
  return { clock, add: (key) => queue.add(key) }
}

const fail = (): never => {
  throw new ReferenceError('reconcile is not defined')
}

describe('without onError and logger, a failed run', () => {
  test('is one line on stderr a minute for each code, which says what to do', async () => {
    const time = fakeRealTime()
    const lines = stderrLines()
    const { clock, add } = working((key) => {
      if (key === 'a') fail()
      throw new CodedError('ECONNREFUSED', 'connect\n  refused')
    })
    await add('a')
    await clock.step(50)
    expect(lines).toEqual([
      'sluice: queue "orders": a run of key "a" failed (failure 1): ReferenceError: reconcile is not ' +
        'defined; it is retried. Further failures are printed once a minute for each error code; ' +
        'createWorker({ onError }) gets all',
    ])
    await add('b')
    await clock.step(10)
    expect(lines.slice(1)).toEqual([
      'sluice: queue "orders": a run of key "b" failed (failure 1): Error: connect refused ' +
        '[ECONNREFUSED]; it is retried',
    ])
    await time.pass(60_000)
    await clock.step(10)
    expect(lines).toHaveLength(4)
    expect(lines[2]).toMatch(
      /key "a" failed \(failure 8\).*\(and 6 more like it since the last line\)$/,
    )
  })

  test('is told apart by the code of its cause, which the line shows', async () => {
    const lines = stderrLines()
    const { clock, add } = working((key) => {
      const cause = new CodedError(key, `cannot reach it: ${key}`)
      throw new TypeError('fetch failed', { cause })
    })
    await add('ECONNREFUSED')
    await add('ENOTFOUND')
    await clock.step(1)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('TypeError: fetch failed: cannot reach it: ENOTFOUND')
  })

  test('says what becomes of the key', async () => {
    const lines = stderrLines()
    const { clock, add } = working(
      (key) => {
        if (key === 'never') throw new TerminalError('no such order')
        fail()
      },
      {},
      { maxFailures: 2 },
    )
    await add('never')
    await add('a')
    await clock.step(10)
    expect(lines.map((line) => line.split('; ')[1]?.split('. ')[0])).toEqual([
      'it is not retried',
      'it is retried',
      'it is parked until it is unparked',
    ])
    const asked = working(fail, {}, { maxFailures: 1, onExhausted: () => 'drop' })
    await asked.add('b')
    await asked.clock.step(0)
    expect(lines.slice(3)).toEqual([
      expect.stringContaining('; onExhausted decides what becomes of it. '),
    ])
  })

  test('does not say that a key is retried which an operator took away', async () => {
    const lines = stderrLines()
    const clock = fakeClock()
    const queue = createRateLimitingQueue<string>({ name: 'orders', clock, leaseMs: 30_000 })
    const worker = createWorker<string>({
      queue,
      handler: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.onabort = () => reject(new Error('stopped'))
        }),
    })
    await queue.add('a')
    await clock.step(0)
    await queue.inspect.park('a')
    await queue.inspect.release('a')
    await clock.step(10_000)
    expect(lines).toEqual([
      expect.stringContaining(
        'run of key "a" failed (failure 1): Error: stopped; its lease was lost. Further',
      ),
    ])
    await worker.stop()
    await queue.close()
  })

  test('is printed as redactError leaves it', async () => {
    const lines = stderrLines()
    const redactError: QueueOptions<string>['redactError'] = (error) => ({
      ...error,
      message: 'xx',
    })
    const { clock, add } = working(fail, { redactError })
    await add('a')
    await clock.step(1)
    expect(lines[0]).toContain('ReferenceError: xx; ')
  })

  test('with onError is not printed', async () => {
    const lines = stderrLines()
    const errors: unknown[] = []
    const { clock, add } = working(fail, {}, { onError: (error) => errors.push(error) })
    await add('a')
    await clock.step(1)
    expect([errors.length, lines]).toEqual([1, []])
  })

  const mistake = new TypeError("Cannot read properties of undefined (reading 'status')")
  const mistaken = (): never => {
    throw mistake
  }

  test.each([
    ['throws', mistaken],
    ['rejects', () => Promise.reject(mistake)],
  ])('with an onError that %s is printed, after what that has thrown', async (_, onError) => {
    const lines = stderrLines()
    const { clock, add } = working(fail, {}, { onError: onError as () => void })
    await add('a')
    await clock.step(10)
    expect(lines).toEqual([
      'sluice: queue "orders": onError threw "Cannot read properties of undefined (reading \'status\')" ' +
        'when it was called with an error, which follows',
      expect.stringContaining(
        'a run of key "a" failed (failure 1): ReferenceError: reconcile is not defined',
      ),
    ])
  })
})

describe('a logger', () => {
  const failed = (failure: number): string =>
    `sluice: queue "orders": a run of key "a" failed (failure ${failure}): ` +
    'ReferenceError: reconcile is not defined; it is retried'
  const starts = 'sluice: queue "orders": a worker starts, with concurrency 1'

  async function logged(logger: Logger): Promise<void> {
    const { clock, add } = working(fail, { logger })
    await add('a')
    await clock.step(10)
  }

  test('of pino gets every failure, as a warning', async () => {
    const { lines, stream } = sink()
    await logged(pino({}, stream))
    const records = lines.map((line) => JSON.parse(line) as { level: number; msg: string })
    expect(records.map(({ level, msg }) => [level, msg])).toEqual([
      [30, starts],
      [40, failed(1)],
      [40, failed(2)],
    ])
  })

  test('of winston gets every failure, as a warning', async () => {
    const { lines, stream } = sink()
    await logged(
      createLogger({ format: format.json(), transports: [new transports.Stream({ stream })] }),
    )
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { level: 'info', message: starts },
      { level: 'warn', message: failed(1) },
      { level: 'warn', message: failed(2) },
    ])
  })

  test('can be the console', async () => {
    const out = sink()
    const err = sink()
    await logged(new Console({ stdout: out.stream, stderr: err.stream }))
    expect([out.lines, err.lines]).toEqual([[starts], [failed(1), failed(2)]])
  })

  test('that throws does no harm', async () => {
    const lines = stderrLines()
    const runs: string[] = []
    const { clock, add } = working(
      (key) => {
        runs.push(key)
        fail()
      },
      { logger: { info: fail, warn: fail, error: fail } },
    )
    await add('a')
    await clock.step(10)
    expect(runs).toEqual(['a', 'a'])
    expect(lines).toEqual([
      expect.stringMatching(
        /^sluice: queue "orders": the logger threw "reconcile is not defined" when it was called with: /,
      ),
    ])
  })
})

test('a worker that vanishes is in the log, and as the last error of the key', async () => {
  const leaseMs = 1_000
  const driver = memoryDriver()
  const lines: string[] = []
  const log = (level: string) => (text: string) => void lines.push(`${level} ${text}`)
  const logger = { info: () => undefined, warn: log('warn'), error: log('error') }
  const clock = fakeClock()
  const options = { name: 'orders', driver, clock, leaseMs, maxCrashes: 2, logger }
  const queue = createRateLimitingQueue<string>(options)
  onTestFinished(() => queue.close())
  await queue.add('a')
  for (const claimId of ['first', 'second']) {
    await driver.claim('orders', { limit: 1, holder: 'vanishing', claimId, leaseMs })
    const looking = new AbortController()
    const waiting = queue.get({ signal: looking.signal }).catch(() => undefined)
    await clock.step(leaseMs)
    looking.abort()
    await waiting
    // Its back-off ends.
    await clock.step(1_000)
  }
  const why = 'a worker vanished or was held up before it gave back key "a"'
  expect(lines.map((line) => line.split(/[:,] /).slice(0, 3).join(': '))).toEqual([
    `warn sluice: queue "orders": ${why}`,
    `error sluice: queue "orders": ${why}`,
  ])
  const { lastError, parked } = (await queue.inspect.get('a')) ?? {}
  expect([lastError?.code, parked]).toEqual(['ERR_LEASE_LOST', true])
  const { conditions } = await queue.inspect.explain('a')
  expect(conditions.find(({ code }) => code === 'PARKED')?.evidence).toBe(
    'it is parked, after 2 failures; in 2 runs in a row its worker vanished',
  )
})

test('a key that an operator parks, and whose worker vanishes then, is not said to be parked by maxCrashes alone', async () => {
  const leaseMs = 1_000
  const driver = memoryDriver()
  const lines: string[] = []
  const logger = {
    info: () => undefined,
    warn: (text: string) => void lines.push(`warn ${text}`),
    error: (text: string) => void lines.push(text),
  }
  const clock = fakeClock()
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver, clock, leaseMs, logger })
  onTestFinished(() => queue.close())
  await queue.add('a')
  await driver.claim('orders', { limit: 1, holder: 'vanishing', claimId: 'first', leaseMs })
  expect(await queue.inspect.park('a')).toBe('changed')
  const looking = new AbortController()
  const waiting = queue.get({ signal: looking.signal }).catch(() => undefined)
  await clock.step(leaseMs)
  looking.abort()
  await waiting
  expect(lines).toEqual([
    'sluice: queue "orders": a worker vanished or was held up before it gave back key "a", which is parked now, by maxCrashes (5) or by an operator: it does not run until it is unparked',
  ])
})

test('NODE_DEBUG=sluice writes every call and every failed run, without the items', async () => {
  const { stderr, code } = await spawnProgram('debugging', { NODE_DEBUG: 'sluice' })
  expect(code).toBe(0)
  expect(stderr).toMatch(/^SLUICE \d+: "orders" memory add .*"added".* in \d+\.\d ms$/m)
  expect(stderr).toMatch(/^SLUICE \d+: "orders" memory worker-started \{"concurrency":1\}$/m)
  expect(stderr).toMatch(/^SLUICE \d+: "orders" memory run .*"key":"order\/42".*"result":"error"/m)
  expect(stderr).not.toContain('secret')
  const quiet = await spawnProgram('debugging', {})
  expect(quiet.stderr).not.toContain('SLUICE')
})
