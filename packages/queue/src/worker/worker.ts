// This folder is the worker: its loops, the runs of its handler, its health, and signals.

import type { Held } from '../held/held.ts'
import type { Queue } from '../queue/queue.ts'
import type { WorkerHealth } from './worker-health.ts'

/** The second argument of a handler. */
export interface HandlerContext {
  readonly key: string
  /** The fencing number; see `Held.token`. */
  readonly token: number
  /** How many runs have failed since the last forget, before this one; crashes are counted, too. */
  readonly failures: number
  /** How many of these failures, directly before this run, were crashes. */
  readonly crashes: number
  readonly priority: number
  /** Aborts when the work is to be stopped: the lease is lost, the time is up, the worker stops. */
  readonly signal: AbortSignal
}

/** The priority for items that can wait, such as those that a controller lists when it starts. */
export const lowPriority = -100

/**
 * How a run that succeeded ends: with nothing, the key is done and its failures are forgotten; with
 * `requeueAfterMs` the same, and it comes back then; with `requeue` it comes back after the
 * limiter's delay, and that counts as a failure. It comes back at the priority it had, or at the
 * one that is given here.
 *
 * As in controller-runtime, `requeueAfterMs` wins over `requeue`, and one of zero or less is as if
 * it were absent: `{ requeueAfterMs: 0 }` alone means that the key is done, and so does
 * `{ requeue: false }`.
 *
 * To come back after a certain time and count a failure, throw an error with `retryAfterMs`.
 */
export type HandlerResult =
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: what a handler without a return gives.
  | void
  | {
      readonly requeueAfterMs: number
      readonly requeue?: boolean | undefined
      readonly priority?: number | undefined
    }
  | { readonly requeue: boolean; readonly priority?: number | undefined }

/**
 * Does the work for one item. Throwing means that the run has failed: its key comes back after the limiter's
 * delay, or after the `retryAfterMs` of the error, if it has that property; see `Held.retry`.
 */
export type Handler<T> = (
  item: T,
  context: HandlerContext,
) => HandlerResult | Promise<HandlerResult>

/**
 * How a key ends that has failed too often. TypeScript takes the one word that an async function returns for
 * any string: write `async () => 'drop' as const`.
 */
export type OnExhausted<T> =
  | 'park'
  | 'drop'
  | ((held: Held<T>, error: unknown) => 'park' | 'drop' | Promise<'park' | 'drop'>)

/** How a worker is made. */
export interface WorkerOptions<T> {
  readonly queue: Queue<T>
  readonly handler: Handler<T>
  /** How many handlers run at a time. Default 1. */
  readonly concurrency?: number | undefined
  /** Aborts the signal of a handler that takes longer. Its slot and its key stay taken. Default: no limit. */
  readonly timeoutMs?: number | undefined
  /**
   * How long a handler may run on after its signal was aborted, before its slot is freed and its
   * lease is left to expire. Default 30 s. Where there is no lease, the key stays with it until it
   * ends.
   */
  readonly abandonMs?: number | undefined
  /**
   * How long the event loop may stand still before that is reported. Default: a third of the lease,
   * or 1 s where there is none.
   */
  readonly blockedMs?: number | undefined
  /**
   * How many runs in a row may fail; the last of them ends with `onExhausted`. Crashes directly before a
   * run are not counted. Default: no limit.
   */
  readonly maxFailures?: number | undefined
  /** How a key ends that has failed `maxFailures` times in a row. Default `park`. */
  readonly onExhausted?: OnExhausted<T> | undefined
  /**
   * How a run that throws a {@link TerminalError} ends. `forget`, the default: the key is done, and
   * starts from zero when it is next added. `done`: it is done and keeps its failures, as in
   * controller-runtime. `park`: it is parked.
   */
  readonly onTerminal?: 'done' | 'forget' | 'park' | undefined
  /**
   * Called with every error of a handler, and with errors of giving keys back. Default: the logger of
   * the queue is called, or else stderr gets one line a minute for each error code.
   */
  readonly onError?: ((error: unknown, held: Held<T> | undefined) => void) | undefined
}

/** How to stop a worker. */
export interface StopOptions {
  /** How long running handlers have before their signals are aborted. Default 10 s. */
  readonly graceMs?: number | undefined
}

/** Takes keys from a queue and runs a handler for each, several at a time. */
export interface Worker extends AsyncDisposable {
  /** Resolves when the worker has ended; rejects if it had to, such as for a damaged store. */
  readonly stopped: Promise<void>
  /** How many handlers are running. */
  readonly running: number
  /**
   * How many handlers have returned whose finishes the store has not acknowledged. Their keys stay
   * held and are renewed until then, but take no slot.
   */
  readonly finishing: number
  /** Whether the worker is live and ready, for probes. Synchronous, and makes no calls. */
  health(): WorkerHealth
  /**
   * Takes no more keys, gives back those that were claimed ahead, and waits for running handlers and
   * for the store to acknowledge their finishes. After `graceMs` the signals of handlers are aborted,
   * and a second later what has not ended or is not acknowledged is left to its lease, named in one
   * ERR_CLOSING. A handler that throws after that abort has not failed: its key is released. The
   * queue stays open.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Resolves when nothing is due, nothing is running and every finish is acknowledged, and stops the
   * worker then. Rejects with ERR_CLOSED if the worker was stopped before the call.
   */
  runUntilIdle(): Promise<void>
}
