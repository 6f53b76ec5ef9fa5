/**
 * Works on the queues of the clock matrix, and says on stdout, a line of JSON each, what it runs and
 * when, by the monotonic clock of the machine, which all processes share. Takes orders on stdin.
 */
import { createInterface } from 'node:readline'
import { memoryDriver } from '@sluice/memory'
import { monotonicNow as now, watchHoldUps } from '@sluice/needs/hold-ups'
import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  createWorker,
  exponential,
  type Queue,
} from 'sluice'
import { leaseMs, type Told, waitMs } from '../clock/clock-cells.ts'
import { driverAt } from '../stores/driver-at.ts'

const [address = '', name = ''] = process.argv.slice(2)
const driver = address === 'memory' ? memoryDriver() : driverAt(address)
const forever = new Promise<never>(() => {})

function tell(what: Told['what'], key: string, who = name, at = now(), ms?: number): void {
  const told: Told = { what, key, who, at, wall: Date.now(), ...(ms !== undefined && { ms }) }
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

watchHoldUps(({ from, until }) => tell('held up', '', name, until, until - from))

const options = { driver, leaseMs, onError: () => {} }

/** Runs each key it gets; those of which `holds` is the start of the name for ever. */
function work(queue: Queue<string>, who: string, holds: string): void {
  createWorker({
    queue,
    concurrency: 3,
    handler: async (key, { failures }) => {
      tell('start', key, who)
      if (key.startsWith(holds)) return await forever
      if (key.startsWith('backoff') && failures === 0) throw new Error('as it should')
      tell('end', key, who)
    },
  })
}

/** Takes one key of those that are ready, claims the others ahead, and waits for an order. */
async function takeAhead(queue: Queue<string>, who: string): Promise<void> {
  const first = await queue.get()
  tell('start', first?.key ?? '', who)
  goOn = async () => {
    tell('end', first?.key ?? '', who)
    await first?.done()
    for (let held = await queue.get(); held !== undefined; held = await queue.get()) {
      tell('start', held.key, who)
      tell('end', held.key, who)
      await held.done()
    }
  }
}

let goOn: () => Promise<void> = async () => {}
/** What is held until the process dies: of what is collected as garbage, no lease is renewed. */
const kept: unknown[] = []
const limiter = exponential({ baseMs: waitMs, maxMs: waitMs })

const orders: Record<string, (who: string) => Promise<unknown>> = {
  /** Takes the key whose holder is going to die, and no other one. */
  async die() {
    const queue = createQueue<string>({ ...options, name: 'held' })
    await queue.add('dead')
    const request = { limit: 1, holder: 'dead', claimId: 'dead', leaseMs }
    kept.push(address === 'memory' ? await driver.claim('held', request) : await queue.get())
    tell('start', 'dead', 'die')
  },
  /** Holds keys, claims some ahead, and adds all others. */
  async hold(who) {
    const held = createQueue<string>({ ...options, name: 'held' })
    await held.add('alive')
    work(held, who, 'alive')
    const ahead = createQueue<string>({ ...options, name: 'ahead', prefetch: 5 })
    await ahead.addMany(['ahead/1', 'ahead/2', 'ahead/3', 'ahead/4', 'ahead/5'])
    await takeAhead(ahead, who)
    await createQueue<string>({ ...options, name: 'ready' }).addMany(['ready/1', 'ready/2'])
  },
  /** Waits for what others let go of. */
  async wait(who) {
    work(createQueue<string>({ ...options, name: 'held' }), who, 'alive')
    work(createQueue<string>({ ...options, name: 'ahead' }), who, 'none')
    work(createRateLimitingQueue<string>({ ...options, name: 'timed', limiter }), who, 'none')
  },
  /** Adds what is due later. */
  async time(who) {
    const queue = createDelayingQueue<string>({ ...options, name: 'timed' })
    tell('asked', 'delayed', who)
    await queue.addAfter('delayed', waitMs)
    await queue.add('backoff')
  },
  /** Works on what was ready when the clock was stepped, and goes on. */
  async go(who) {
    tell('asked', 'ready', who)
    work(createQueue<string>({ ...options, name: 'ready' }), who, 'none')
    void goOn()
  },
}

for await (const order of createInterface({ input: process.stdin })) {
  await orders[order]?.(`${name} ${order}`)
  tell('obeyed', order)
}
process.exit(0)
