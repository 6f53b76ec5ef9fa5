import type { Clock, Driver } from 'sluice'
import { lives } from '../src/lives.ts'
import { addChanges, dice, queueOf, workOn } from '../src/shop.ts'

/** The shop of the demo, on a clock that is stepped. */
export interface Shop {
  /** To be called once a second. */
  second(): Promise<void>
}

/** Runs the workers of the shop in this process, each with a queue object of its own. */
export function shopInOneProcess(driver: Driver, clock: Clock): Shop {
  const chance = dice(7)
  let second = 0
  const running = lives.map((life) => {
    let queue = queueOf(life, driver, { clock })
    for (let worker = 0; worker < life.workers; worker += 1) {
      // One of them adds keys as well, and tells how many adds were merged.
      queue = queueOf(life, driver, { clock })
      workOn(life, queue, { clock, chance })
    }
    return { life, queue }
  })
  return {
    second: async () => {
      second += 1
      for (const { life, queue } of running) {
        await addChanges(life, queue, second, chance)
        if (second === life.pauseAtSecond) await queue.inspect.pause()
      }
    },
  }
}
