// What `npm start` runs: a queue in a SQLite file, two worker processes, a source of objects that
// change, and the dashboard. Started again on the same file it shows the queue surviving.
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { serveDashboard } from '@sluice/dashboard/node'
import { sqliteDriver } from '@sluice/sqlite'
import { demoQueue } from './demo-queue.ts'
import { ObjectSource } from './objects.ts'
import { openInBrowser } from './open-in-browser.ts'
import { WorkerProcess } from './worker-processes.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '4040' },
    seconds: { type: 'string' },
    'no-open': { type: 'boolean', default: false },
  },
})
const file = positionals[0] ?? join(tmpdir(), 'sluice-demo.db')
const started = performance.now()
let runs = 0

const stopping = new AbortController()
process.on('SIGINT', () => stopping.abort())
process.on('SIGTERM', () => stopping.abort())
// For those who cannot press Ctrl-C.
if (values.seconds !== undefined) {
  setTimeout(() => stopping.abort(), Number(values.seconds) * 1_000).unref()
}

function say(text: string): void {
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(5)} s  ${text}`)
}

function onRun(): void {
  runs += 1
}

const driver = sqliteDriver({ file })
const queue = demoQueue(driver)
const token = randomBytes(18).toString('base64url')
const options = { driver, allowActions: true, auth: { token }, storeName: file }
const dashboard = await serveDashboard(options, { port: Number(values.port) }).catch(() =>
  // The port is taken: any other will do.
  serveDashboard(options),
)
const address = dashboard.signInUrl ?? dashboard.url

async function status(): Promise<string> {
  const { ready, delayed, backoff, processing, dirty, parked } = await queue.inspect.counts()
  return (
    `ready ${ready}, delayed ${delayed}, backoff ${backoff}, processing ${processing}, ` +
    `dirty ${dirty}, parked ${parked}`
  )
}

console.log(`Sluice: a work queue of keys, in the file ${file}
  1. Objects change in bursts, and each change adds its key; a key that waits already is added once.
  2. Two worker processes take keys. No key is ever with both.
  3. default/search fails at first and backs off; default/mail fails three times and is parked.
  4. Every 20 seconds a worker is killed; what it held comes back when its lease ends.
  5. Ctrl-C ends it. What is not done by then stays in the file.
  6. Start it again: the queue is still there.

  Watch all of it, and run, park or purge keys, at
  ${address}
`)

const before = await queue.inspect.counts()
const kept = before.ready + before.delayed + before.backoff + before.processing + before.dirty
say(
  kept + before.parked === 0
    ? 'the queue is empty'
    : `from the last time: ${kept} keys to do, ${before.parked} parked`,
)
if (process.stdout.isTTY && !values['no-open']) openInBrowser(address)

const source = new ObjectSource()
source.watch(({ name }) => queue.addSoon(name))
source.start()
const workers = ['worker 1', 'worker 2'].map(
  (name) => new WorkerProcess({ name, file, say, onRun }),
)
for (const worker of workers) worker.start()

for (let second = 1; !stopping.signal.aborted; second += 1) {
  await wait(1_000, undefined, { signal: stopping.signal }).catch(() => undefined)
  if (stopping.signal.aborted) break
  if (second % 20 === 4) workers[Math.floor(second / 20) % workers.length]?.killAtWork()
  if (second < 10 || second % 10 === 0) say(await status())
}

say('stopping: the source, then the workers, then the dashboard and the queue')
source.stop()
await Promise.all(workers.map((worker) => worker.stop()))
const { keys } = await queue.inspect.list({ state: 'parked' })
for (const { key, failures, lastError } of keys) {
  say(`${key} is parked after ${failures} failures: ${lastError?.message ?? 'no error kept'}`)
}
say(`${source.events} changes cost ${runs} runs. In the file: ${await status()}`)
await dashboard.close()
await queue.close()
