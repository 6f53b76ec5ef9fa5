// One worker process of the demo: `node worker-process.ts STORE NUMBER URL`. The first one works on
// every queue that has workers, the second one on those with two. It tells its parent what it does.
import { systemClock } from 'sluice'
import { sendWebhook } from './customers-server.ts'
import { lives } from './lives.ts'
import { demoLeaseMs, driverOf } from './open-store.ts'
import { queueOf, workOn } from './shop.ts'
import type { WorkerMessage } from './worker-processes.ts'

const [store, number, url] = process.argv.slice(2)
if (store === undefined || number === undefined || url === undefined) {
  throw new Error('worker-process.ts needs a store, a number and the URL of the customers')
}

const tell = (message: WorkerMessage): void => {
  process.send?.(message, (error) => {
    // Where the parent has gone, and this process has not heard of it yet.
    if (error instanceof Error) void stop()
  })
}

const driver = driverOf(store)
const mine = lives.filter(({ workers }) => workers >= Number(number))
const works = mine.map((life) => {
  const logger = {
    info: () => undefined,
    warn: () => undefined,
    error: (text: string) => tell({ error: text }),
  }
  const queue = queueOf(life, driver, { leaseMs: demoLeaseMs, logger })
  const worker = workOn(life, queue, {
    clock: systemClock,
    chance: Math.random,
    call: (key, signal) => sendWebhook(url, key, signal),
    onRun: ({ key, crashes }) => {
      // Sent before the work: a worker that is killed now has taken the key and not given it back.
      tell({ run: `${life.name}: ${key}`, crashes })
    },
  })
  return { queue, worker }
})

const stop = async (): Promise<void> => {
  await Promise.all(works.map(({ worker }) => worker.stop({ graceMs: 1_000 })))
  await Promise.all(works.map(({ queue }) => queue.close()))
  process.exit(0)
}
process.on('SIGTERM', () => void stop())
process.on('disconnect', () => void stop())
// Where the parent has gone while this process started; without one, it stays.
if (process.connected === false) void stop()
// Ctrl-C reaches the whole group; the parent says when to stop.
process.on('SIGINT', () => undefined)
