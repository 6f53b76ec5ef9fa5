/** What a listener does over time, with connections that are made up. */
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { PgListener } from '../../src/connection/client-shapes.ts'
import { Warnings } from '../../src/connection/warnings.ts'
import { Listener, type ListenerUse } from '../../src/notices/listener.ts'
import { WakeSignal } from '../../src/notices/wake-signal.ts'
import { Watch } from '../../src/notices/watch.ts'

type Handler = (value?: unknown) => void

/** A connection that does as it is told. */
class FakeConnection {
  readonly sent: string[] = []
  readonly handlers = new Map<string, Handler[]>()
  /** Whether it still listens, in its own opinion. */
  listens = true
  /** It takes questions and answers none. */
  isDeaf = false
  isEnded = false

  /** Whether no connection comes about. */
  static isAway = false

  async connect(): Promise<void> {
    if (FakeConnection.isAway) throw new Error('ECONNREFUSED')
  }

  async query({ text }: { text: string }): Promise<{ rows: unknown[] }> {
    this.sent.push(text)
    if (this.isDeaf) return await new Promise(() => {})
    if (text.startsWith('listen')) this.listens = true
    return { rows: [{ n: this.listens ? '1' : '0', listens: this.listens ? 't' : 'f' }] }
  }

  async end(): Promise<void> {
    this.isEnded = true
  }

  on(event: string, handler: Handler): this {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler])
    return this
  }

  emit(event: string, value?: unknown): void {
    for (const handler of this.handlers.get(event) ?? []) handler(value)
  }
}

let clock: FakeClock
let made: FakeConnection[]
let notices: (string | undefined)[]
let warnings: string[]
let arrives: boolean
/** Whether the first connection breaks while the proof is sent. */
let breaksFirst: boolean
/** Whether the server does not answer the statement that sends the proof. */
let isSilent: boolean
let use: ListenerUse
let listener: Listener
let onWarning: () => void

beforeEach(() => {
  clock = fakeClock()
  made = []
  notices = []
  warnings = []
  arrives = true
  breaksFirst = false
  isSilent = false
  onWarning = () => {}
  const environment = { clock, random: () => 0.5 }
  const limited = new Warnings(environment, () => onWarning())
  use = {
    environment,
    channel: 'sluice_x',
    make() {
      const connection = new FakeConnection()
      made.push(connection)
      return connection as unknown as PgListener
    },
    async send(payload) {
      if (isSilent) await new Promise(() => {})
      if (breaksFirst && made.length === 1) made[0]?.emit('error', new Error('57P01'))
      else if (arrives) made.at(-1)?.emit('notification', { payload })
    },
    onNotice: (queue) => void notices.push(queue),
    onWarning(kind, message, cause) {
      warnings.push(kind)
      limited.warn(kind, message, cause)
    },
  }
  listener = new Listener(use)
  return async () => {
    const stopped = listener.stop()
    await clock.step(10_000)
    await stopped
  }
})

test('notices are heard once they have been proven to come', async () => {
  await listener.start()
  expect(listener.isProven).toBe(true)
  expect(notices).toEqual([undefined])
  made[0]?.emit('notification', { payload: 'qorders' })
  expect(notices).toEqual([undefined, 'orders'])
})

test('a connection that has stopped to listen listens again within 11 seconds', async () => {
  await listener.start()
  const [connection] = made
  connection!.listens = false
  await clock.step(10_500)
  expect(connection!.sent.at(-1)).toBe('listen "sluice_x"')
  expect(notices).toEqual([undefined, undefined])
  expect(made).toHaveLength(1)
})

test('a connection that answers nothing any more is replaced within 15 seconds', async () => {
  await listener.start()
  made[0]!.isDeaf = true
  await clock.step(15_000)
  expect(made[0]!.isEnded).toBe(true)
  await clock.step(1_000)
  expect(made).toHaveLength(2)
  expect(listener.isProven).toBe(true)
  expect(warnings).toEqual(['listen'])
  // What was missed meanwhile is looked for.
  expect(notices).toEqual([undefined, undefined])
})

const statement = { name: 'tick', text: 'tick' }

test('a connection over which something is asked every 10 seconds is asked nothing else', async () => {
  await listener.start()
  const [connection] = made
  for (let beat = 0; beat < 10; beat += 1) {
    await clock.step(10_000)
    expect(await listener.ask(statement, [])).toHaveLength(1)
  }
  expect(connection!.sent).toEqual(['listen "sluice_x"', ...Array(10).fill('tick')])
})

test('an answer that says that it does not listen makes it listen at once', async () => {
  await listener.start()
  const [connection] = made
  connection!.listens = false
  await listener.ask(statement, [])
  await clock.step(0)
  expect(connection!.sent.at(-1)).toBe('listen "sluice_x"')
  expect(notices).toEqual([undefined, undefined])
})

test('what is asked over a connection that answers nothing is given up, and it is replaced', async () => {
  await listener.start()
  made[0]!.isDeaf = true
  const asked = listener.ask(statement, [])
  // One statement at a time: a second one takes another connection.
  expect(await listener.ask(statement, [])).toBeUndefined()
  // Whether it took effect is unknown.
  const failing = expect(asked).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  await clock.step(4_500)
  await failing
  await clock.step(5_500)
  expect(made).toHaveLength(2)
})

test('a connection that ends is replaced soon', async () => {
  await listener.start()
  made[0]!.emit('end')
  await clock.step(1_000)
  expect(made).toHaveLength(2)
})

test('however often connections end that notices came over, each is replaced soon', async () => {
  await listener.start()
  for (let end = 1; end <= 10; end += 1) {
    made.at(-1)!.emit('end')
    await clock.step(1_000)
    expect(made).toHaveLength(1 + end)
  }
})

test('watchers are polled while no connection listens, and only then', async () => {
  const { environment, channel, send } = use
  const wakeSignal = new WakeSignal({ environment, channel, send, sendsNotices: true })
  const parts = { environment, wakeSignal, pollMs: 1_000, hears: () => false }
  const watch = new Watch({ ...parts, listener: use })
  let polls = 0
  const unwatch = await watch.watch(() => {
    polls += 1
  })
  const pollsIn = async (ms: number): Promise<number> => {
    const before = polls
    await clock.step(ms)
    return polls - before
  }
  expect(await pollsIn(60_000)).toBe(0)
  FakeConnection.isAway = true
  try {
    made.at(-1)!.emit('end')
    expect(await pollsIn(10_000)).toBe(10)
  } finally {
    FakeConnection.isAway = false
  }
  await clock.step(20_000)
  expect(watch.isProven).toBe(true)
  expect(await pollsIn(60_000)).toBe(0)
  await unwatch()
  expect(await pollsIn(60_000)).toBe(0)
})

test('where notices do not come, that is found out, and tried again after a minute', async () => {
  arrives = false
  const started = listener.start()
  await clock.step(5_000)
  await started
  expect(listener.isProven).toBe(false)
  expect(warnings).toEqual(['unproven'])
  expect(made[0]!.isEnded).toBe(true)
  await clock.step(50_000)
  expect(made).toHaveLength(1)
  arrives = true
  await clock.step(10_000)
  expect(made).toHaveLength(2)
  expect(listener.isProven).toBe(true)
})

test.each(['error', 'end'])(
  'a connection whose %s comes before the proof is replaced soon',
  async (event) => {
    arrives = false
    const started = listener.start()
    await clock.step(100)
    arrives = true
    made[0]!.emit(event, new Error('57P01'))
    await started
    await clock.step(1_000)
    expect(warnings).toEqual(['listen'])
    expect(made).toHaveLength(2)
    expect(listener.isProven).toBe(true)
  },
)

test('what breaks a connection before its proof is sent is no lack of notices', async () => {
  breaksFirst = true
  void listener.start()
  await clock.step(1_000)
  expect(warnings).toEqual(['listen'])
  expect(listener.isProven).toBe(true)
})

test('a stop does not wait for a server that does not answer the proof', async () => {
  isSilent = true
  const started = listener.start()
  await clock.step(0)
  await listener.stop()
  await started
  expect([listener.isProven, warnings, made[0]?.isEnded]).toEqual([false, [], true])
  expect(clock.waiters()).toBe(0)
})

test('nothing is sent on a connection that has not answered yet', async () => {
  await listener.start()
  const [first] = made
  // Notices come, so that nothing else is asked; then a tick is not answered.
  first!.isDeaf = true
  const asked = listener.ask({ name: '', text: 'tick' }, [])
  await clock.step(0)
  expect(await listener.ask({ name: '', text: 'tick' }, [])).toBeUndefined()
  const sent = first!.sent.length
  const failing = expect(asked).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  await clock.step(5_000)
  await failing
  await clock.step(30_000)
  expect(first!.sent).toHaveLength(sent)
  expect(made.length).toBeGreaterThan(1)
})

test('the look at a silent connection waits for the statement that is under way', async () => {
  await listener.start()
  const [first] = made
  await clock.step(10_000)
  first!.isDeaf = true
  const asked = listener.ask({ name: '', text: 'tick' }, [])
  const failing = expect(asked).rejects.toThrow('got no answer')
  const sent = first!.sent.length
  // It would be asked now whether it listens.
  await clock.step(2_000)
  expect(first!.sent).toHaveLength(sent)
  await clock.step(5_000)
  await failing
  expect(first!.sent).toHaveLength(sent)
})

test('a server that is away is connected to less than twice a second', async () => {
  await listener.start()
  const before = made.length
  arrives = false
  FakeConnection.isAway = true
  try {
    made.at(-1)?.emit('end')
    for (let second = 0; second < 60; second += 1) {
      const upTo = made.length
      await clock.step(1_000)
      expect(made.length - upTo).toBeLessThanOrEqual(1)
    }
    expect(made.length - before).toBeLessThan(12)
  } finally {
    FakeConnection.isAway = false
  }
})

test('an onWarning that throws does not end the listening, and is printed with the warning', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => print.mockRestore())
  onWarning = () => {
    throw new Error('the log is full')
  }
  await listener.start()
  made[0]!.isDeaf = true
  await clock.step(16_000)
  expect([warnings, listener.isProven]).toEqual([['listen'], true])
  expect(print.mock.calls.flat().map(String)).toEqual([
    'sluice: onWarning threw:',
    'Error: the log is full',
    'when it was called with:',
    'listening for notices failed: listening got no answer within 4500 ms',
    'DeadlineError: listening got no answer within 4500 ms',
  ])
})

test('a warning that is given once is given once, any other again after ten seconds', async () => {
  const said: string[] = []
  const limited = new Warnings({ clock, random: () => 0.5 }, (message) => said.push(message))
  for (let nth = 0; nth < 3; nth += 1) {
    limited.once('unproven', 'no notices', undefined)
    limited.warn('listen', `lost ${nth}`, undefined)
    await clock.step(9_999)
    limited.warn('listen', 'too early', undefined)
    await clock.step(1)
  }
  expect(said).toEqual(['no notices', 'lost 0', 'lost 1', 'lost 2'])
})
