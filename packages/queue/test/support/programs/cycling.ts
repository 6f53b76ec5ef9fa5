// Takes keys through add, get and done many times, and says how much heap is in use after each of
// the rounds that are asked for, in bytes after a collection.
import { createQueue, memoryDriver } from '../../../src/index.ts'

const [way = '', ...rounds] = process.argv.slice(2)
const collect = globalThis.gc as () => void

const queue = createQueue<string>({
  name: 'q',
  driver: memoryDriver(),
  ...(way === 'direct' ? {} : { leaseMs: 30_000 }),
})

const keys = Array.from({ length: 100 }, (_, n) => `namespace/object-${n}`)

async function cycle(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await queue.add(keys[n % keys.length] as string)
    const held = await queue.get()
    await held?.done()
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

let done = 0
for (const round of rounds) {
  await cycle(Number(round) - done)
  done = Number(round)
  await settle()
  collect()
  await settle()
  collect()
  console.log(process.memoryUsage().heapUsed)
}
