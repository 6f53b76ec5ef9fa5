/**
 * Prints the heap after 2, 6 and 10 million keys have come and gone, each of them another one: in a
 * queue that is nearly empty, and in one that is filled with a thousand at a time.
 */
import type { DirectClaim } from '@sluice/core'
import { memoryDriver } from '../../src/index.ts'

const driver = memoryDriver()
void driver.open({})
const queue = driver.direct!('')
const held: DirectClaim = {
  key: '',
  itemText: undefined,
  token: 0,
  handle: 0,
  failures: 0,
  crashes: 0,
  priority: 0,
  askedAt: 0,
}

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

let next = 0
function cycle(keys: number): void {
  for (let at = 0; at < keys; at += 1) {
    const item = next % 3 === 0 ? `"item ${next}"` : undefined
    queue.add(`namespace/object-${next}`, item, next % 2, options)
    next += 1
  }
  for (let at = 0; at < keys; at += 1) {
    if (!queue.claim(held, 'holder', Infinity)) throw new Error('a key is missing')
    if (queue.done(held.handle, held.token, false) !== 'idle') throw new Error('a key is left')
  }
  held.key = ''
  held.itemText = undefined
}

function heapBytes(): number {
  globalThis.gc!()
  globalThis.gc!()
  return process.memoryUsage().heapUsed
}

const heaps: number[] = []
for (const millions of [2, 6, 10]) {
  while (next < millions * 1e6) {
    for (let at = 0; at < 1_000; at += 1) cycle(1)
    cycle(1_000)
  }
  heaps.push(heapBytes())
}
console.log(JSON.stringify({ heaps }))
