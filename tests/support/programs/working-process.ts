/**
 * A process that works on a store: its worker waits, holds a key, has keys before it that fall due,
 * and adds a key a second with addSoon. Says on stdout, in lines of JSON, which runs begin and which
 * leases it loses, by the monotonic clock of the machine; answers the lines `add <key>`, `due <n> <ms>`
 * and `report` on stdin.
 */
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { monotonicNow, watchHoldUps } from '@sluice/needs/hold-ups'
import { createDelayingQueue, createWorker } from 'sluice'
import { countedDriver } from '../idle/counted-driver.ts'
import { workingLeaseMs } from '../outage/working-process.ts'
import { driverAt } from '../stores/driver-at.ts'

let connections = 0
const connect = Socket.prototype.connect as (...args: unknown[]) => unknown
Socket.prototype.connect = function counted(this: Socket, ...args: unknown[]) {
  connections += 1
  return Reflect.apply(connect, this, args)
} as typeof Socket.prototype.connect

const [address = ''] = process.argv.slice(2)
const calls: Record<string, number> = {}
/** Calls of a driver that no call of this program has made; `open` is one of them. */
const inner = driverAt(address)
const opening = inner.open.bind(inner)
inner.open = async (options) => {
  calls['open'] = (calls['open'] ?? 0) + 1
  await opening(options)
}
const driver = countedDriver(inner, calls)
const codes: Record<string, number> = {}
let added = 0
const queue = createDelayingQueue<string>({
  name: 'orders',
  driver,
  leaseMs: workingLeaseMs,
  onError(error) {
    const { code = 'none' } = error as { code?: string }
    codes[code] = (codes[code] ?? 0) + 1
  },
})

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

watchHoldUps((heldUp) => say({ heldUp }))

let end = (): void => {}
const ended = new Promise<void>((resolve) => {
  end = resolve
})

const worker = createWorker({
  queue,
  concurrency: 4,
  async handler(key, { signal }) {
    say({ began: key, at: monotonicNow() })
    if (!key.startsWith('held')) return
    signal.addEventListener('abort', () =>
      say({ lost: key, at: monotonicNow(), why: signal.reason?.code }),
    )
    await ended
  },
  onError() {},
})
worker.stopped.catch((error: unknown) => say({ stopped: String(error), at: monotonicNow() }))

/** Adds a key; again when the store did not answer in time, as happens on a machine that is busy. */
async function addedAfter(key: string, ms: number): Promise<void> {
  try {
    await queue.addAfter(key, ms)
  } catch (error) {
    if ((error as { retryable?: boolean }).retryable !== true) throw error
    await addedAfter(key, ms)
  }
}

let cpu = process.cpuUsage()
// real time: see where it is started.
let soon: ReturnType<typeof setInterval> | undefined

await addedAfter('held', 0)

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, ...words] = line.split(' ')
  if (verb === 'end') break
  if (verb === 'add') {
    const [key = ''] = words
    const sentAt = monotonicNow()
    queue.add(key).then(
      () => say({ added: key, sentAt, at: monotonicNow() }),
      (error) => say({ refused: key, code: error.code, sentAt, at: monotonicNow() }),
    )
  } else if (verb === 'due') {
    const [count = 0, ms = 0] = words.map(Number)
    for (let at = 1; at <= count; at += 1) await addedAfter(`due/${at}`, (at * ms) / count)
    say({ delayed: count })
  } else if (verb === 'soon') {
    const addOne = (): void => {
      added += 1
      queue.addSoon(`soon/${added}`)
    }
    // One at once: trouble of a second is noticed, too.
    addOne()
    // real time: an application goes on adding while the store is away.
    soon = setInterval(addOne, 1_000)
  } else {
    const { user, system } = process.cpuUsage(cpu)
    const counts = { calls: { ...calls }, codes: { ...codes }, added, connections }
    say({ report: { ...counts, cpuMs: (user + system) / 1_000 } })
    cpu = process.cpuUsage()
  }
}
clearInterval(soon)
end()
await worker.stop({ graceMs: 0 }).catch(() => {})
await queue.close().catch(() => {})
process.exit(0)
