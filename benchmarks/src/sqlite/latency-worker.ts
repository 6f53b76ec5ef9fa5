// Waits for keys on the file that it is given, and tells its parent when it begins with one.
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { sqliteDriver } from '../../../packages/sqlite/src/index.ts'

const file = process.argv[2] ?? ''
const queue = createQueue<string>({
  name: 'q',
  driver: sqliteDriver({ file, durability: 'process' }),
})
await queue.len()
createWorker({
  queue,
  concurrency: 1,
  handler: async () => {
    process.send?.(Number(process.hrtime.bigint()) / 1e6)
  },
})
process.send?.(0)
