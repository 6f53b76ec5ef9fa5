import { createRateLimitingQueue, createWorker } from 'sluice'
import { fileDriver } from './file-driver.ts'

const path = process.argv[2] ?? 'queue.v8'
const queue = createRateLimitingQueue({ name: 'orders', driver: fileDriver(path) })

const left = await queue.len()
if (left === 0) {
  await queue.addMany(['order/1', 'order/2', 'order/3'])
  console.log(`3 orders are in ${path}; run this again to work on them`)
} else {
  const worker = createWorker({
    queue,
    handler: (order) => console.log(`working on ${order}`),
  })
  await worker.runUntilIdle()
  console.log(`${left} orders are done`)
}
await queue.close()
