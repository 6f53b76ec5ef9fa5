/**
 * A process that works on keys and kills itself at a point of the finish of the first one: with the
 * handler returned (`returned`), with the finish waiting behind one in flight (`queued`), with the
 * finish under way (`sent`), or committed without an answer to the queue (`committed`). Takes the
 * address of the store and the point. Each run of a handler is a line of output. The lease is long, so
 * that no claim is given back because this process was held up: that would be a finish too.
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

const driver = driverAt(address)
const finish = driver.finish.bind(driver)
const dying: Driver['finish'] = async (queue, finishes: readonly Finish[], options) => {
  // The first batch is never sent, so that the finish of the next key waits behind it.
  if (point === 'queued') return await new Promise(() => undefined)
  const answer = Promise.resolve(finish(queue, finishes, options))
  if (point === 'sent') setImmediate(die)
  await answer
  die()
}
Object.assign(driver, { finish: dying })

const queue = createQueue<string>({ name: 'orders', driver, leaseMs: 30_000, prefetch: 1 })
let runs = 0
createWorker({
  queue,
  handler: (key) => {
    runs += 1
    writeSync(1, `${key}\n`)
    if (point === 'queued' && runs === 2) setImmediate(die)
    if (point !== 'returned') return undefined
    // Read once the handler has returned.
    return {
      get requeueAfterMs(): number {
        return die()
      },
    }
  },
})
