import { memoryDriver } from '../../src/index.ts'
import { blankClaim } from '../blank-claim.ts'

const driver = memoryDriver()
void driver.open({})
const queue = driver.direct!('')
const held = blankClaim()

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

let next = 0
let runs = 0
function cycle(keys: number): void {
  for (let at = 0; at < keys; at += 1) {
    const item = next % 3 === 0 ? `"item ${next}"` : undefined
    queue.add(`namespace/object-${next}`, item, next % 2, options)
    next += 1
  }
  for (let left = keys; left > 0; ) {
    if (!queue.claim(held, 'holder', Infinity)) throw new Error('a key is missing')
    runs += 1
    const isAdded = runs % 3 === 0
    if (isAdded) queue.add(held.key, undefined, 0, options)
    else left -= 1
    const outcome = queue.done(held.handle, held.token, false)
    if (outcome !== (isAdded ? 'ready' : 'idle')) throw new Error(`a key is ${outcome}`)
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
