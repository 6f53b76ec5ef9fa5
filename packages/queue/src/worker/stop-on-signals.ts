import {
  checkBoolean,
  checkNumber,
  checkObject,
  delayMsMax,
  describeValue,
  graceMsDefault,
  SluiceError,
  SluiceTypeError,
  systemClock,
} from '@sluice/core'
import { closeMs, endsBy } from '../core/lifecycle.ts'

// As a free name, some bundlers for browsers would bring a substitute for it.
const { process } = globalThis

/**
 * Within this time, another SIGINT is a copy of the first: a terminal sends one Ctrl-C to all processes, and
 * `node --watch`, `tsx watch` and nodemon pass theirs on.
 */
const copiesMs = 250

/** Something that takes work and can stop doing so: a worker. */
export interface Stops {
  /** Rejects if it had to end. */
  readonly stopped?: Promise<unknown>
  stop(options: { readonly graceMs: number }): Promise<void>
}

/** Something that is let go of when nothing uses it any more: a queue. */
export interface Closes {
  /** `leftMs`: how long it may take at most. */
  close(options: { readonly graceMs: number }, leftMs?: number): Promise<void>
}

/** A worker or a queue. */
export type Stoppable = Stops | Closes

/** How signals stop workers. */
export interface StopOnSignalsOptions {
  /** Default SIGTERM, which a supervisor sends, and SIGINT, which Ctrl-C does. */
  readonly signals?: readonly NodeJS.Signals[] | undefined
  /** How long running handlers have before their signals are aborted. Default 10 s. */
  readonly graceMs?: number | undefined
  /**
   * Whether to end the process when everything has stopped, and at the second signal (with 128 + the
   * signal's number). Default false: the process ends automatically once nothing keeps it alive.
   */
  readonly exit?: boolean | undefined
}

function isOneOf(value: unknown): value is Stoppable {
  if (typeof value !== 'object' || value === null) return false
  const { stop, close } = value as { readonly stop?: unknown; readonly close?: unknown }
  return typeof stop === 'function' || typeof close === 'function'
}

function checkTargets(what: Stoppable | readonly Stoppable[]): readonly Stoppable[] {
  const targets: readonly unknown[] = Array.isArray(what) ? what : [what]
  targets.forEach((target, at) => {
    if (isOneOf(target)) return
    throw new SluiceTypeError(
      Array.isArray(what) ? `what[${at}]` : 'what',
      'must be a worker or a queue',
    )
  })
  return targets as readonly Stoppable[]
}

/** The signals of this system by their names. Read when called: a browser has none, and no process. */
function signalNumbers(): Readonly<Record<NodeJS.Signals, number>> {
  return process.getBuiltinModule('node:os').constants.signals
}

function checkSignals(signals: readonly NodeJS.Signals[]): void {
  if (!Array.isArray(signals) || signals.length === 0) {
    throw new SluiceTypeError('signals', 'must name at least one signal')
  }
  signals.forEach((signal: string, at) => {
    if (signal in signalNumbers()) return
    throw new SluiceTypeError(`signals[${at}]`, 'must be the name of a signal')
  })
}

/** What fails is reported, and does not take the others their time. */
async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}

/** Stops the workers, then closes the queues, which the workers need until then. */
async function stopAll(targets: readonly Stoppable[], graceMs: number): Promise<void> {
  const workers = targets.filter((target): target is Stops => 'stop' in target)
  const queues = targets.filter((target): target is Closes => !('stop' in target))
  const endAt = systemClock.monotonicMs() + graceMs + closeMs
  const stopInTime = async (worker: Stops): Promise<void> => {
    // A server does not stop while a socket is open: queues are closed all the same.
    if (await endsBy(Promise.resolve(worker.stop({ graceMs })), endAt)) return
    const late = 'cannot stop all in time: something did not end within graceMs and 2 s'
    throw new SluiceError('ERR_TIMEOUT', late)
  }
  await Promise.all(workers.map((worker) => attempt(() => stopInTime(worker))))
  // Where there are workers, they have had the grace.
  const left = workers.length > 0 ? 0 : graceMs
  const leftMs = endAt - systemClock.monotonicMs()
  await Promise.all(queues.map((queue) => attempt(() => queue.close({ graceMs: left }, leftMs))))
}

/**
 * Stops workers and closes queues on SIGTERM and SIGINT, and returns a function that undoes that.
 *
 * The first signal stops gracefully: no more keys are taken, running handlers have `graceMs`. The
 * second one takes the rest of the grace away: signals are aborted at once. From then on signals do
 * what they do without this, so that a third one ends the process. SIGINT within 250 ms of the first SIGINT is
 * not a second one: some programs pass on the Ctrl-C that the terminal sends to all. Queues that are given with workers
 * are closed after them, and after `graceMs` and two seconds also if something does not stop. The exit
 * code of the process becomes 1 if stopping fails, or if one of the workers has to end, as for a
 * damaged store. Needs a process: not for browsers.
 */
export function stopOnSignals(
  what: Stoppable | readonly Stoppable[],
  options: StopOnSignalsOptions = {},
): () => void {
  const targets = checkTargets(what)
  checkObject('options', options, ['signals', 'graceMs', 'exit'])
  const { signals: named = ['SIGTERM', 'SIGINT'], graceMs = graceMsDefault, exit = false } = options
  checkSignals(named)
  // A signal that is named twice would be its own second one, which takes the grace away.
  const signals = [...new Set(named)]
  checkNumber('graceMs', graceMs, { min: 0, max: delayMsMax })
  checkBoolean('exit', exit)
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
  let isUndone = false

  const undo = (): void => {
    isUndone = true
    for (const signal of signals) process.off(signal, onSignal)
  }
  const stop = async (ms: number): Promise<void> => {
    await stopAll(targets, ms)
    undo()
    // After what was emitted: warnings are printed in the next tick.
    if (exit) process.nextTick(() => process.exit())
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    const at = systemClock.monotonicMs()
    if (first === undefined) {
      first = { signal, at }
      void stop(graceMs)
      return
    }
    if (signal === 'SIGINT' && first.signal === signal && at - first.at < copiesMs) return
    undo()
    if (exit) process.exit(128 + signalNumbers()[signal])
    void stop(0)
  }
  for (const signal of signals) {
    try {
      process.on(signal, onSignal)
    } catch (cause) {
      undo()
      // SIGKILL and SIGSTOP end and stop every process.
      const message = `must be a signal that a process can handle; got ${describeValue(signal)}`
      throw new SluiceTypeError(`signals[${named.indexOf(signal)}]`, message, { cause })
    }
  }
  for (const target of targets) {
    if (!('stopped' in target)) continue
    target.stopped?.catch(() => {
      if (!isUndone) process.exitCode = 1
    })
  }
  return undo
}
