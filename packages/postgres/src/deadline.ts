import type { Machine } from './machine.ts'

/** Marks what ended because its time was over. */
export class DeadlineError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`)
    this.name = 'DeadlineError'
  }
}

/**
 * The same promise, but rejecting with a {@link DeadlineError} after `ms` of real time. What comes
 * too late goes to `late`, if it comes at all.
 */
export function withDeadline<T>(
  machine: Machine,
  ms: number,
  what: string,
  promise: Promise<T>,
  late?: (value: T) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isOver = false
    const timer = machine.clock.startTimer(ms, () => {
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
