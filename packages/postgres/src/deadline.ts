import type { Machine } from './machine.ts'

/** Marks what ended because its time was over. */
export class DeadlineError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`)
    this.name = 'DeadlineError'
  }
}

/** What {@link withDeadline} does besides waiting. */
export interface DeadlineOptions<T> {
  /** Called with what comes too late, if it comes at all. */
  readonly late?: (value: T) => void
  /** A number that changes while something is under way: then it may take `ms` more. */
  readonly progress?: () => number
}

/** The same promise, but rejecting with a {@link DeadlineError} after `ms` of real time. */
export function withDeadline<T>(
  machine: Machine,
  ms: number,
  what: string,
  promise: Promise<T>,
  { late, progress }: DeadlineOptions<T> = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isOver = false
    let before = progress?.()
    const timer = machine.clock.startTimer(ms, () => {
      const now = progress?.()
      if (now !== before) {
        before = now
        timer.reset(ms)
        return
      }
      isOver = true
      reject(new DeadlineError(what, ms))
    })
    // Somebody awaits the answer.
    timer.ref()
    promise.then(
      (value) => {
        if (isOver) late?.(value)
        timer.stop()
        resolve(value)
      },
      (error: unknown) => {
        timer.stop()
        reject(error)
      },
    )
  })
}
