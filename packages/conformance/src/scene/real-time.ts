import { systemClock } from '@sluice/core'

/** Lets real time pass, for what no clock of a test moves: input and output, and other processes. */
export async function realTime(ms = 1): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.startTimer(ms, resolve).ref()
  })
}
