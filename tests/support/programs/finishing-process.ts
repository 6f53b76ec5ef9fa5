/**
 * A process that works on keys and kills itself at a point of the finish of the first one: with the
 * handler returned (`returned`), with the finish waiting behind one in flight (`queued`), with the
 * finish under way (`sent`), or committed without an answer to the queue (`committed`). Takes the
 * address of the store and the point. Each run of a handler is a line of output. The lease is long, and
 * no key is claimed ahead, so that none is given back because this process was held up: that would be a
 * finish too.
 */
import { writeSync } from 'node:fs'
import type { Driver, Finish } from '@sluice/core'
import { createQueue, createWorker } from 'sluice'
import { driverAt } from '../stores/driver-at.ts'

const [address = '', point = ''] = process.argv.slice(2)

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment.
  for (;;);
}

const bothRun = Promise.withResolvers<void>()
const inFlight = Promise.withResolvers<void>()

const driver = driverAt(address)
const finish = driver.finish.bind(driver)
const dying: Driver['finish'] = async (queue, finishes: readonly Finish[], options) => {
  // The first batch is never sent, so that the finish of the other key waits behind it.
  if (point === 'queued') {
    inFlight.resolve()
    return await new Promise(() => undefined)
  }
  const answer = Promise.resolve(finish(queue, finishes, options))
  if (point === 'sent') setImmediate(die)
  await answer
  die()
}
Object.assign(driver, { finish: dying })

const queue = createQueue<string>({ name: 'orders', driver, leaseMs: 30_000, prefetch: 0 })
let runs = 0
createWorker({
  queue,
  concurrency: point === 'queued' ? 2 : 1,
  handler: (key) => {
    runs += 1
    writeSync(1, `${key}\n`)
    if (point === 'queued') {
      if (runs === 1) return bothRun.promise
      bothRun.resolve()
      return inFlight.promise.then(() => void setImmediate(die))
    }
    if (point !== 'returned') return undefined
    // Read once the handler has returned.
    return {
      get requeueAfterMs(): number {
        return die()
      },
    }
  },
})
