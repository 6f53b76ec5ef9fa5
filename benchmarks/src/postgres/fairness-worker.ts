// A worker in a process of its own: `fairness-worker.ts URL HANDLER_MS CONCURRENCY`. Each second it
// prints how many handlers it has started.
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { type HandlerMs, work } from './worker-sides.ts'

const [connectionString = '', handlerMs = '0', concurrency = '1'] = process.argv.slice(2)
const queue = createQueue<string>({ name: 'fair', driver: postgresDriver({ connectionString }) })
let started = 0
createWorker({
  queue,
  concurrency: Number(concurrency),
  handler: async () => {
    started += 1
    await work(Number(handlerMs) as HandlerMs)
  },
})
setInterval(() => process.stdout.write(`${started}\n`), 1_000)
