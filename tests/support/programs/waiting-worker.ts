/**
 * A worker that waits for keys. Reports on stdout, one line of JSON each time a line comes in on
 * stdin: the calls of the driver and the processor time since the previous report.
 */
import { createInterface } from 'node:readline'
import { createQueue, createWorker } from 'sluice'
import { countedDriver } from '../idle/counted-driver.ts'
import { driverAt } from '../stores/driver-at.ts'

const [address = ''] = process.argv.slice(2)
let calls: Record<string, number> = {}
const counting = new Proxy(
  {},
  {
    get: (_, name) => Reflect.get(calls, name),
    set: (_, name, value) => Reflect.set(calls, name, value),
  },
)
const driver = countedDriver(driverAt(address), counting)
const queue = createQueue<string>({ name: 'orders', driver })
let runs = 0
const worker = createWorker({
  queue,
  handler() {
    runs += 1
  },
})
let cpu = process.cpuUsage()

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break
  if (line !== 'report') await queue.add(line)
  const { user, system } = process.cpuUsage(cpu)
  console.log(JSON.stringify({ calls, runs, cpuMs: (user + system) / 1_000 }))
  calls = {}
  cpu = process.cpuUsage()
}
await worker.stop()
await queue.close()
