/**
 * Prints the heap after 4,000 and after 20,000 names of queues have been used once each, by the verbs
 * and directly, while a queue with a key, a paused one and a direct queue that is kept stay in use.
 */
import { type ClaimReply, never } from '@sluice/core'
import { memoryDriver } from '../../src/index.ts'
import { blankClaim } from '../blank-claim.ts'

const driver = memoryDriver()
void driver.open({})
const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const ask = { key: 'a', item: undefined, priority: 0, delayMs: 0 }
const claimRequest = { limit: 1, holder: 'h', claimId: 'c', leaseMs: never }
const into = blankClaim()

function check(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(what)
}

function useByVerbs(name: string): void {
  void driver.add(name, [ask], options)
  const { claims } = driver.claim(name, claimRequest) as ClaimReply
  const finishes = claims.map(
    ({ key, token }) => ({ as: 'done', key, token, forget: false }) as const,
  )
  void driver.finish(name, finishes, options)
  void driver.counts(name, { cap: 10 })
}

function useDirectly(name: string): void {
  const queue = driver.direct!(name)
  queue.add('a', undefined, 0, options)
  check(queue.claim(into, 'h', never), 'a key is missing')
  check(queue.done(into.handle, into.token, false) === 'idle', 'a key is left')
}

const kept = driver.direct!('kept')
kept.add('a', undefined, 0, options)
check(kept.claim(into, 'h', never) && kept.done(into.handle, into.token, false) === 'idle', 'kept')
void driver.add('full', [ask], options)
void driver.operate!.pause('paused')

async function heapBytes(): Promise<number> {
  // What a turn of the event loop has looked at stays until its end.
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc!()
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const heaps: number[] = []
let next = 0
for (const names of [4_000, 20_000]) {
  while (next < names) {
    useByVerbs(`tenant ${next}`)
    useDirectly(`tenant ${next + 1}`)
    next += 2
    if (next % 1_000 === 0) await heapBytes()
  }
  heaps.push(await heapBytes())
}
// A direct queue that is still referenced is the one that its name leads to.
kept.add('b', undefined, 0, options)
check((driver.claim('kept', claimRequest) as ClaimReply).claims[0]?.key === 'b', 'b is missing')
console.log(JSON.stringify({ heaps, queues: driver.queues!() }))
