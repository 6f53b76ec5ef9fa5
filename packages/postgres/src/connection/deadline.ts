import type { Environment } from '@sluice/core/driver'

/** Takes a value or an error that does not matter. */
export function ignore(): void {}

/** How long a close waits for the server, in milliseconds: one that is well answers at once. */
export const closeMs = 1_000

/** The error of a call that got no answer in time. */
export class DeadlineError extends Error {
  /** Whether the wait ended early, because the answer was known to be lost. */
  readonly isLost: boolean

  constructor(what: string, ms: number, isLost = false) {
    super(`${what} got no answer within ${ms} ms`)
    this.name = 'DeadlineError'
    this.isLost = isLost
  }
}

/** Options of {@link withDeadline}. */
export interface DeadlineOptions<T> {
  /** Called with an answer that comes after the wait has ended. */
  readonly late?: ((value: T) => void) | undefined
  /** Has a function while the answer is awaited, which ends the wait with an error. */
  readonly waits?: Set<(error: unknown) => void> | undefined
  /** A number that changes while there is progress. Each change starts the time again. */
  readonly progress?: (() => number) | undefined
  /** Called after so many milliseconds without progress, and then often: whether the answer is lost. */
  readonly suspicion?: { readonly afterMs: number; isLost(): Promise<boolean> } | undefined
}

/**
 * The time between two such calls, and how much longer an answer is awaited that is known to be lost,
 * since it may be on its way, in milliseconds.
 */
const againMs = 100
const lastMs = 250

/** The same promise, but rejecting with a {@link DeadlineError} after `ms` of real time. */
export function withDeadline<T>(
  environment: Environment,
  ms: number,
  what: string,
  promise: Promise<T>,
  { late, waits, progress, suspicion }: DeadlineOptions<T> = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isOver = false
    let isLost = false
    const startedAt = environment.clock.monotonicMs()
    let before = progress?.()
    let leftMs = ms
    // Where the process itself was held up, timers fire before answers that have come are read: the last
    // part is a timer of its own.
    const firstMs = Math.min(Math.max(ms - againMs, ms / 2), suspicion?.afterMs ?? ms)
    let partMs = firstMs
    const goOn = (longest = suspicion === undefined ? ms : againMs): void => {
      partMs = Math.min(leftMs, longest)
      timer.reset(partMs)
    }
    const suspect = (): void => {
      const traffic = before
      suspicion?.isLost().then((lost) => {
        if (!lost || isLost || isOver || traffic !== before) return
        isLost = true
        leftMs = lastMs
        goOn(lastMs)
      }, ignore)
    }
    const timer = environment.clock.startTimer(partMs, () => {
      const now = progress?.()
      if (now !== before) {
        before = now
        isLost = false
        leftMs = ms
        goOn(firstMs)
        return
      }
      leftMs -= partMs
      if (leftMs <= 0) {
        const tookMs = Math.round(environment.clock.monotonicMs() - startedAt)
        end(new DeadlineError(what, tookMs, isLost))
        return
      }
      goOn()
      suspect()
    })
    // The caller awaits the answer.
    timer.ref()
    const over = (): void => {
      isOver = true
      timer.stop()
      waits?.delete(end)
    }
    const end = (error: unknown): void => {
      over()
      reject(error)
    }
    waits?.add(end)
    promise.then((value) => {
      if (isOver) late?.(value)
      over()
      resolve(value)
    }, end)
  })
}
