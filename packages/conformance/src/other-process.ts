import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { type Clock, type Driver, SluiceError, systemClock } from '@sluice/core'
import type { OtherProcess } from './case.ts'

/** The description of a driver that one process sends to another. */
interface Hello {
  readonly name: string
  readonly contractVersion: number
  readonly capabilities: Driver['capabilities']
  /** Its verbs; those of a group as `group.verb`. */
  readonly verbs: readonly string[]
}

/** A reading of the caller's clock. */
interface Reading {
  readonly wall: number
  readonly monotonic: number
}

interface CallMessage {
  readonly id: number
  readonly verb: string
  readonly args: readonly unknown[]
  /** Absent if the caller opened the driver without a clock. */
  readonly time: Reading | undefined
}

/** An error as one process sends it to another: with its code. */
interface SentError {
  readonly name: string
  readonly message: string
  readonly code?: SluiceError['code']
  readonly retryable?: boolean
}

/** An error inside an answer. */
interface WrappedError {
  readonly sent: SentError
}

type Answer =
  | { readonly hello: Hello }
  | { readonly wake: string | undefined }
  | { readonly id: number; readonly ahead: number | undefined; readonly answer: unknown }
  | { readonly id: number; readonly ahead: number | undefined; readonly error: SentError }

const groups = ['operate', 'transfer'] as const
const notForOthers = new Set(['transact', 'direct'])

function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message } = error
  if (!SluiceError.is(error)) return { name, message }
  return { name, message, code: error.code, retryable: error.retryable }
}

function receivedError({ message, code, retryable = false }: SentError): Error {
  if (code === undefined) return new Error(message)
  // The constructor adds the code to the message again.
  return new SluiceError(code, message.replace(` [${code}]`, ''), { retryable })
}

function packed(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer
  return answer.map((each: unknown) => {
    const isFailure = typeof each === 'object' && each !== null && 'error' in each
    if (!isFailure || !(each.error instanceof Error)) return each
    return { ...each, error: { sent: sentError(each.error) } satisfies WrappedError }
  })
}

function unpacked(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer
  return answer.map((each: unknown) => {
    const isFailure = typeof each === 'object' && each !== null && 'error' in each
    if (!isFailure) return each
    return { ...each, error: receivedError((each.error as WrappedError).sent) }
  })
}

function functionsOf(target: object): string[] {
  const names = new Set<string>()
  for (let each = target; each !== Object.prototype; each = Object.getPrototypeOf(each) as object) {
    for (const name of Object.getOwnPropertyNames(each)) names.add(name)
  }
  const found = target as Readonly<Record<string, unknown>>
  return [...names].filter((name) => name !== 'constructor' && typeof found[name] === 'function')
}

function verbsOf(driver: Driver): string[] {
  const direct = functionsOf(driver).filter((name) => !notForOthers.has(name))
  const grouped = groups.flatMap((group) => {
    const verbs = driver[group]
    return verbs === undefined ? [] : functionsOf(verbs).map((name) => `${group}.${name}`)
  })
  return [...direct, ...grouped]
}

/**
 * Carries out the calls of the parent process on `driver`. Called by the module that
 * {@link forkDriver} starts, with its `process`.
 */
export function serveDriver(driver: Driver, own: NodeJS.Process): void {
  let time: Reading = { wall: 0, monotonic: 0 }
  const clock: Clock = {
    now: () => time.wall,
    monotonicMs: () => time.monotonic,
    startTimer: (ms, callback) => systemClock.startTimer(ms, callback),
    startTicker: (ms, callback) => systemClock.startTicker(ms, callback),
  }
  // Where the parent has gone, even before this process listens to its end.
  const end = (): void => own.exit(0)
  const send = (answer: Answer): void =>
    void own.send?.(answer, (error) => {
      if (error instanceof Error) end()
    })
  let stop: undefined | (() => unknown)
  const call = async ({ verb, args, time: reading }: CallMessage): Promise<unknown> => {
    if (reading !== undefined) time = reading
    if (verb === 'open') return await driver.open(reading === undefined ? {} : { clock })
    if (verb === 'watch') {
      stop = await driver.watch?.((queue) => send({ wake: queue }))
      return undefined
    }
    if (verb === 'unwatch') return void (await stop?.())
    const [group, name = ''] = verb.includes('.') ? verb.split('.') : [undefined, verb]
    const target = group === undefined ? driver : driver[group as 'operate']
    const verbs = target as unknown as Record<string, (...args: unknown[]) => unknown>
    return packed(await verbs[name]?.(...args))
  }
  own.on('message', (message: CallMessage) => {
    const { id } = message
    call(message).then(
      (answer) => send({ id, ahead: driver.ahead, answer }),
      (error: unknown) => send({ id, ahead: driver.ahead, error: sentError(error) }),
    )
  })
  own.on('disconnect', end)
  const { name, contractVersion, capabilities } = driver
  const able = { ...capabilities, transact: false as const }
  send({ hello: { name, contractVersion, capabilities: able, verbs: verbsOf(driver) } })
}

/** The connection to the other process: calls without an answer, and its wakes. */
class Line {
  readonly #child: ChildProcess
  readonly #waiting = new Map<
    number,
    { resolve: (answer: unknown) => void; reject: (error: Error) => void }
  >()
  #last = 0
  #hasEnded = false
  ahead: number | undefined
  onWake: (queue: string | undefined) => void = () => {}
  readonly hello: Promise<Hello>

  constructor(child: ChildProcess) {
    this.#child = child
    this.hello = new Promise((resolve, reject) => {
      child.on('message', (message: Answer) => {
        if ('hello' in message) resolve(message.hello)
        else this.#hear(message)
      })
      // Each error, as one without a listener would end this process.
      child.on('error', reject)
      child.once('exit', () => {
        this.#hasEnded = true
        const error = new SluiceError('ERR_UNKNOWN_OUTCOME', 'the other process has ended')
        reject(error)
        for (const { reject: fail } of this.#waiting.values()) fail(error)
        this.#waiting.clear()
      })
    })
  }

  #hear(message: Exclude<Answer, { readonly hello: Hello }>): void {
    if ('wake' in message) {
      this.onWake(message.wake)
      return
    }
    this.ahead = message.ahead
    const call = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('error' in message) call?.reject(receivedError(message.error))
    else call?.resolve(unpacked(message.answer))
  }

  async ask(verb: string, args: readonly unknown[], clock: Clock | undefined): Promise<unknown> {
    if (this.#hasEnded) {
      if (verb === 'close') return undefined
      throw new SluiceError('ERR_STORE', 'the other process has ended')
    }
    this.#last += 1
    const id = this.#last
    const time = clock && { wall: clock.now(), monotonic: clock.monotonicMs() }
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      // A process that is ending takes no message: its exit is the answer then.
      this.#child.send({ id, verb, args, time } satisfies CallMessage)
    })
  }
}

/** A driver whose verbs the process at the other end of `line` carries out. */
function remoteDriver(line: Line, hello: Hello, end: () => Promise<void>): Driver {
  let clock: Clock | undefined
  const { name, contractVersion, capabilities } = hello
  const driver: Record<string, unknown> = { name, contractVersion, capabilities }
  Object.defineProperty(driver, 'ahead', { enumerable: true, get: () => line.ahead })
  for (const verb of hello.verbs) {
    const [group, own] = verb.includes('.') ? verb.split('.') : [undefined, verb]
    if (group !== undefined) driver[group] ??= {}
    const target = (group === undefined ? driver : driver[group]) as Record<string, unknown>
    target[own as string] = (...args: unknown[]) => line.ask(verb, args, clock)
  }
  driver['open'] = async (options: Parameters<Driver['open']>[0]) => {
    clock = options.clock
    await line.ask('open', [], clock)
  }
  driver['close'] = async () => {
    await line.ask('close', [], clock)
    await end()
  }
  if (hello.verbs.includes('watch')) {
    driver['watch'] = async (onWake: (queue: string | undefined) => void) => {
      line.onWake = onWake
      await line.ask('watch', [], clock)
      return async () => void (await line.ask('unwatch', [], clock))
    }
  }
  return driver as unknown as Driver
}

/**
 * Starts `module`, which has to call {@link serveDriver}, in its own process, and returns a driver
 * whose calls that process carries out. The process ends when the driver is closed.
 */
export async function forkDriver(
  module: URL | string,
  args: readonly string[] = [],
  options: ForkOptions = {},
): Promise<OtherProcess> {
  // JSON has no infinite numbers.
  const child = fork(module, args, { ...options, serialization: 'advanced' })
  const line = new Line(child)
  // A process that does not start has no exit, and rejects the greeting alone.
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const hello = await line.hello
  const end = async (): Promise<void> => {
    if (child.connected) child.disconnect()
    await ended
  }
  return {
    driver: remoteDriver(line, hello, end),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
