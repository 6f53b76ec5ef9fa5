// What `npm start` runs: a shop with its queues in a SQLite file or a Redis, worker processes, a server that can be
// broken, and the dashboard. Started again on the same store it shows the queues surviving.
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { serveDashboard } from '@sluice/dashboard/node'
import { readArguments } from './arguments.ts'
import { startCustomersServer } from './customers-server.ts'
import { onKeyPresses } from './key-presses.ts'
import { lives } from './lives.ts'
import { openInBrowser } from './open-in-browser.ts'
import { demoLeaseMs, openStore } from './open-store.ts'
import { addChanges, queueOf } from './shop.ts'
import { WorkerProcess } from './worker-processes.ts'

const { store, isOwnFile, port, seconds, opensBrowser } = readArguments()
const isFile = !/^rediss?[:-]/.test(store)
// An address may contain a password.
const shown = isFile ? store : store.replace(/\/\/[^/@]*@/, '//')
const started = performance.now()
let runs = 0
let changes = 0

const stopping = new AbortController()
process.on('SIGINT', () => stopping.abort())
process.on('SIGTERM', () => stopping.abort())
// For those who cannot press Ctrl-C.
if (seconds !== undefined) setTimeout(() => stopping.abort(), seconds * 1_000).unref()

function say(text: string): void {
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(5)} s  ${text}`)
}

const driver = await openStore(store, isOwnFile, (reason) =>
  say(`the file of an older demo was removed, because it cannot be read: ${reason}`),
)
const queues = lives.map((life) => ({
  life,
  queue: queueOf(life, driver, { leaseMs: demoLeaseMs }),
}))
const queueNamed = (name: string) => {
  const found = queues.find(({ life }) => life.name === name)
  if (found === undefined) throw new Error(`the shop has no queue ${name}`)
  return found.queue
}
const webhooks = queueNamed('webhooks')
const searchIndex = queueNamed('search-index')

const token = randomBytes(18).toString('base64url')
const options = { driver, allowActions: true, auth: { token }, storeName: shown }
const dashboard = await serveDashboard(options, { port }).catch(() =>
  // The port is taken: any other will do.
  serveDashboard(options),
)
const address = dashboard.signInUrl ?? dashboard.url
const customers = await startCustomersServer()

/** The keys of all queues, by state. */
async function status(): Promise<string> {
  const all = await Promise.all(queues.map(({ queue }) => queue.inspect.counts()))
  const states = ['ready', 'delayed', 'backoff', 'processing', 'dirty', 'parked'] as const
  return states
    .map((state) => `${state} ${all.reduce((sum, counts) => sum + counts[state], 0)}`)
    .join(', ')
}

console.log(`Sluice: seven work queues of a shop, in ${isFile ? 'the file ' : ''}${shown}
  1. Things change, and each change adds its key. A key that is pending already is added once.
  2. Two worker processes run the keys. No key is ever with both.
  3. Some runs fail and back off; a key of pods that fails five times in a row is parked.
  4. Every 20 seconds a worker is killed; its keys come back when their leases end.
  5. Ctrl-C ends it. What is not done by then stays in the store: start it again.

  Watch all of it, and run, park or purge keys, at
  ${address}

  Press b to break the server that webhooks are sent to, or to fix it; k to kill a worker; p to pause
  search-index, or to resume it; q to quit.
`)
say(`from the last time: ${await status()}`)
if (opensBrowser) openInBrowser(address)

/** Keys that were run again after their worker was killed: all with how often, and those not said yet. */
const returns = new Map<string, number>()
let unsaid: string[] = []

function noteReturn(key: string, crashes: number): void {
  if (crashes <= (returns.get(key) ?? 0)) return
  returns.set(key, crashes)
  unsaid.push(key)
}

function sayReturns(): void {
  const [first] = unsaid
  if (first === undefined) return
  const others = unsaid.length === 1 ? '' : ` and ${unsaid.length - 1} more`
  say(`back after their worker was killed: ${first}${others}`)
  unsaid = []
}

const workers = [1, 2].map(
  (number) =>
    new WorkerProcess({
      name: `worker ${number}`,
      args: [store, String(number), customers.url],
      say,
      onRun: (key, crashes) => {
        runs += 1
        noteReturn(key, crashes)
      },
    }),
)
for (const worker of workers) worker.start()

/** Which worker is killed next. */
let kills = 0
function kill(): void {
  workers[kills % workers.length]?.killAtWork()
  kills += 1
}

/** Says why one webhook waits, in the words of `explain`. */
async function explainWebhook(): Promise<void> {
  const { keys } = await webhooks.inspect.list({ state: 'backoff', limit: 100 })
  // Others fail for reasons of their own.
  const refused = keys.filter(({ lastError }) => lastError?.message.endsWith('answered 503'))
  const key = refused.toSorted((a, b) => b.failures - a.failures)[0]
  if (key === undefined) return
  const { conditions } = await webhooks.inspect.explain(key.key)
  // By now it may run again.
  const why = conditions.find(({ code, ok }) => ok === false && code.startsWith('BACKOFF_'))
  if (why === undefined || key.lastError === undefined) return
  say(`why does ${key.key} of webhooks not run? ${why.evidence}: ${key.lastError.message}`)
}

function breakOrFix(): void {
  customers.isBroken = !customers.isBroken
  say(
    customers.isBroken
      ? 'the server of the customers answers 503 now: webhooks back off (b fixes it)'
      : 'the server of the customers is fixed: webhooks go through at their next try',
  )
}

async function pauseOrResume(): Promise<void> {
  const { paused } = await searchIndex.inspect.counts()
  await (paused ? searchIndex.inspect.resume() : searchIndex.inspect.pause())
  say(`search-index is ${paused ? 'resumed' : 'paused (p resumes it)'}`)
}

/** An action of a key press that fails is said, and ends nothing. */
function attempt(action: () => Promise<void>): void {
  action().catch((error: unknown) =>
    say(`failed: ${error instanceof Error ? error.message : error}`),
  )
}

const stopReading = onKeyPresses({
  b: breakOrFix,
  k: kill,
  p: () => attempt(pauseOrResume),
  q: () => stopping.abort(),
  // In a terminal whose keys are read one by one, Ctrl-C is a character.
  '\u0003': () => stopping.abort(),
})

for (let second = 1; !stopping.signal.aborted; second += 1) {
  await wait(1_000, undefined, { signal: stopping.signal }).catch(() => undefined)
  if (stopping.signal.aborted) break
  const added = queues.map(({ life, queue }) => addChanges(life, queue, second, Math.random))
  for (const count of await Promise.all(added)) changes += count
  if (second % 20 === 4) kill()
  if (second % 5 === 0) sayReturns()
  if (customers.isBroken && second % 5 === 0) attempt(explainWebhook)
  if (second < 6 || second % 10 === 0) say(await status())
}

stopReading()
say('stopping: the workers, then the dashboard and the queues')
await Promise.all(workers.map((worker) => worker.stop()))
customers.close()
for (const { life, queue } of queues) {
  const { keys } = await queue.inspect.list({ state: 'parked', limit: 3 })
  for (const { key, failures, lastError } of keys) {
    say(`${life.name}: ${key} is parked after ${failures} failures: ${lastError?.message ?? ''}`)
  }
}
say(`${changes} changes cost ${runs} runs. In the store: ${await status()}`)
await dashboard.close()
await Promise.all(queues.map(({ queue }) => queue.close()))
