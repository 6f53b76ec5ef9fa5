import { existsSync, readFileSync } from 'node:fs'

/** When a process did not get to its own timers, by the machine's monotonic clock. */
export interface HoldUp {
  readonly from: number
  readonly until: number
}

/** How long the timers of a process must have stood still for it to count as held up. */
const heldUpMsMin = 500

const beatMs = 100

/** The machine's monotonic clock, which all processes read alike. */
export const monotonicNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

/**
 * How long this process has waited for a processor since it began, in milliseconds, while it had something
 * to do. Only Linux tells; 0 elsewhere.
 */
export function processorWaitMs(): number {
  const file = '/proc/self/schedstat'
  if (!existsSync(file)) return 0
  const [, waitedNs] = readFileSync(file, 'utf8').split(' ')
  return Number(waitedNs) / 1_000_000
}

/** Watches this process for as long as it lives, or until what it returns is called. */
export function watchHoldUps(onHeldUp: (heldUp: HoldUp) => void): () => void {
  let beatAt = monotonicNow()
  const beat = (): void => {
    const from = beatAt
    beatAt = monotonicNow()
    if (beatAt - from >= heldUpMsMin) onHeldUp({ from, until: beatAt })
  }
  // real time: a busy machine, or its disk, holds a process up.
  const ticker = setInterval(beat, beatMs)
  // A process that ends on its way out of a hold-up says so, too.
  process.once('exit', beat)
  return () => {
    beat()
    clearInterval(ticker)
    process.off('exit', beat)
  }
}

/** For how much of a time at least one of the processes was held up. */
export function heldUpMs(holdUps: readonly HoldUp[], from: number, until: number): number {
  let [sum, at] = [0, from]
  for (const heldUp of [...holdUps].sort((one, other) => one.from - other.from)) {
    const end = Math.min(heldUp.until, until)
    sum += Math.max(0, end - Math.max(heldUp.from, at))
    at = Math.max(at, end)
  }
  return sum
}

/** Starts a stopwatch that stands still while this process is held up; to be read once. */
export function startStopwatch(): () => number {
  const from = monotonicNow()
  const holdUps: HoldUp[] = []
  const unwatch = watchHoldUps((heldUp) => holdUps.push(heldUp))
  return () => {
    unwatch()
    const until = monotonicNow()
    return until - from - heldUpMs(holdUps, from, until)
  }
}
