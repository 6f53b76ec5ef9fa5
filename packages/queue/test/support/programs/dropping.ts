// Drops a Held without finishing it, collects garbage, and prints the reports.
import { fakeClock } from '@sluice/core/testing'
import { createQueue, type Held, memoryDriver, SluiceError } from '../../../src/index.ts'
import { LateDriver } from '../late-driver.ts'

const [way = '', what = ''] = process.argv.slice(2)
const collect = globalThis.gc as () => void

// What looks for dropped Helds without a lease follows real time. Here it runs 500 times as fast. With
// leases it follows the clock, and only the calls of the driver follow real time: they get all of theirs.
const speed = way === 'direct' ? 500 : 1
// real time: made quick, so that the test does not have to wait for it.
const realSetTimeout = globalThis.setTimeout
const realNow = performance.now.bind(performance)
performance.now = () => realNow() * speed
// real time: made quick.
globalThis.setTimeout = ((callback: () => void, ms: number) =>
  realSetTimeout(callback, ms / speed)) as typeof setTimeout // real time: made quick.

const clock = fakeClock()
const inner = memoryDriver()
const queue = createQueue<string>({
  name: 'q',
  driver: way === 'late' ? new LateDriver(inner) : inner,
  clock,
  ...(way === 'direct' ? {} : { leaseMs: 30_000 }),
  onError: (error) => {
    const code = SluiceError.is(error) ? error.code : String(error)
    console.log(`${code} ${(error as Error).message.includes('"dropped"')}`)
  },
})

const kept: Held<string>[] = []
const left: Held<string>[] = []

async function takeAll(): Promise<void> {
  await queue.addMany(['dropped', 'kept', 'finished', 'again'])
  const helds = await queue.getMany(4)
  for (const held of helds) {
    if (held.key === 'kept') kept.push(held)
    if (what === 'by item only') continue
    if (held.key === 'finished') await held.done()
    if (held.key === 'again') await held.release()
  }
  // A caller that finishes by item may drop the Held.
  if (what === 'by item') await queue.done('dropped')
  if (what === 'after a close') left.push(...helds.slice(0, 1))
}

async function pass(): Promise<void> {
  await clock.step(10_000)
  await new Promise((resolve) => realSetTimeout(resolve, 30))
  collect()
  await new Promise((resolve) => setImmediate(resolve))
}

await takeAll()
for (let round = 0; round < 6; round += 1) await pass()
if (what === 'after a close') {
  const closing = queue.close()
  await clock.step(1_000)
  await clock.step(1_000)
  await closing
  console.log(await left.pop()?.done())
  for (let round = 0; round < 3; round += 1) await pass()
  process.exit()
}
console.log(`kept ${kept[0]?.signal.aborted}`)
if (what === 'by item only') {
  for (const item of ['dropped', 'finished', 'again']) console.log(await queue.done(item))
}
if (way !== 'direct' && what !== 'by item only') {
  // Not renewed any more, the key comes back when its lease ends.
  const waiting = [queue.get(), queue.get()]
  await clock.step(40_000)
  const keys = (await Promise.all(waiting)).map((held) => held?.key)
  console.log(`back ${keys.join()}`)
}
