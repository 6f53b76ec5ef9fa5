// A run fails and succeeds at its second try; the item has something in it that no log should have.
import { createRateLimitingQueue, createWorker } from '../../../src/index.ts'

interface Order {
  id: string
  card: string
}

const queue = createRateLimitingQueue<Order>({ name: 'orders', keyOf: ({ id }) => id })
await queue.add({ id: 'order/42', card: 'secret' })
const done = Promise.withResolvers<void>()
const worker = createWorker({
  queue,
  handler: (_, { failures }) => {
    if (failures === 0) throw new Error('not yet')
    done.resolve()
  },
})
await done.promise
await worker.stop()
await queue.close()
