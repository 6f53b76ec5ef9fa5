import type { Driver } from '@sluice/core'

/** Watches; `next()` resolves with the next notice that is of a queue. */
export async function watched(driver: Driver) {
  let heard: (queue: string | undefined) => void = () => {}
  const all: (string | undefined)[] = []
  const stop = await driver.watch!((queue) => {
    all.push(queue)
    heard(queue)
  })
  return {
    all,
    stop,
    next: (of?: (queue: string | undefined) => boolean) =>
      new Promise<string | undefined>((resolve) => {
        heard = (queue) => {
          if (of === undefined || of(queue)) resolve(queue)
        }
      }),
  }
}
