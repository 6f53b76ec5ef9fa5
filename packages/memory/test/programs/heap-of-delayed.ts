/**
 * Prints how many bytes a delayed key costs beyond its text: the heap after a million `addAfter`, less
 * that of the same strings in an array, without its slots. Each delay is longer than the one before, or
 * shorter if the second argument is `shorter`.
 */
import { memoryDriver } from '../../src/index.ts'

/** The bytes of one element of an array. */
const slot = 8

const count = Number(process.argv[2])
const step = process.argv[3] === 'shorter' ? -1 : 1

/** In one piece, as a key that was read. Joined texts take 16 bytes more until the queue reads them. */
const keyAt = (at: number): string => Buffer.from(`namespace/object-${at}`).toString('latin1')

async function heapBytes(): Promise<number> {
  let least = Infinity
  for (let collections = 0; collections < 4; collections += 1) {
    globalThis.gc!()
    // Buffers are freed, and code is compiled, beside the main thread.
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    least = Math.min(least, heapUsed + arrayBuffers)
  }
  return least
}

const before = await heapBytes()
const keys = Array.from({ length: count }, (_, at) => keyAt(at))
const texts = (await heapBytes()) - before - slot * count
keys.length = 0

const driver = memoryDriver()
void driver.open({})
const queue = driver.direct!('')
const empty = await heapBytes()
const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
for (let at = 0; at < count; at += 1) {
  const key = keyAt(at)
  queue.ask({ key, item: undefined, priority: 0, delayMs: 3_600_000 + step * at }, options)
}
const full = await heapBytes()
console.log(JSON.stringify({ bytesPerKey: (full - empty - texts) / count }))
if (queue.ready() !== 0) throw new Error('nothing may be ready')
