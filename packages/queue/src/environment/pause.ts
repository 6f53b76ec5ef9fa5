import { systemClock } from '@sluice/core'

/** Waits in real time, and keeps the process alive meanwhile. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.startTimer(ms, resolve).ref()
  })
}
