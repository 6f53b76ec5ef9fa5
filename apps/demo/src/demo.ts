// What `npm start` runs: a queue in a SQLite file, two worker processes, and a source of objects
// that change. Started again on the same file it shows the queue surviving.
import { type ChildProcess, fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { demoQueue } from './demo-queue.ts'
import { ObjectSource } from './objects.ts'

const file = process.argv[2] ?? join(tmpdir(), 'sluice-demo.db')
const started = performance.now()
let runs = 0

const stopping = new AbortController()
process.on('SIGINT', () => stopping.abort())
process.on('SIGTERM', () => stopping.abort())

function say(text: string): void {
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(5)} s  ${text}`)
}

function startWorker(name: string): ChildProcess {
  const child = fork(join(import.meta.dirname, 'worker-process.ts'), [file], {
    execArgv: [...process.execArgv],
  })
  child.on('message', (text) => {
    if (text === 'run') runs += 1
    else say(`${name}: ${String(text)}`)
  })
  return child
}

/** Kills a worker as soon as it has taken a key. */
function killAtWork(worker: ChildProcess | undefined): void {
  worker?.on('message', (text) => {
    if (text !== 'run' || worker.killed) return
    say('worker 1 is killed while it holds a key')
    worker.kill('SIGKILL')
  })
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
}

const queue = demoQueue(file)

async function status(): Promise<string> {
  const { ready, delayed, backoff, processing, dirty, parked } = await queue.inspect.counts()
  return `ready ${ready}, delayed ${delayed}, backoff ${backoff}, processing ${processing}, dirty ${dirty}, parked ${parked}`
}

console.log(`Sluice: a work queue of keys, in the file ${file}
  1. Objects change in bursts, and each change adds its key; a key that waits already is added once.
  2. Two worker processes take keys. No key is ever with both.
  3. default/search fails at first and backs off; default/mail fails three times and is parked.
  4. After 4 seconds a worker is killed; what it held comes back when its lease ends.
  5. Ctrl-C, or 15 seconds, ends it. What is not done by then stays in the file.
  6. Start it again: the queue is still there.
`)
const before = await queue.inspect.counts()
const kept = before.ready + before.delayed + before.backoff + before.processing + before.dirty
say(
  kept + before.parked === 0
    ? 'the queue is empty'
    : `from the last time: ${kept} keys to do, ${before.parked} parked`,
)

const source = new ObjectSource()
source.watch(({ name }) => queue.addSoon(name))
source.start()
const workers = [startWorker('worker 1'), startWorker('worker 2')]

async function during(ms: number, each: () => Promise<void>): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end && !stopping.signal.aborted) {
    await wait(1_000, undefined, { signal: stopping.signal }).catch(() => undefined)
    if (!stopping.signal.aborted) await each()
  }
}

const show = async (): Promise<void> => say(await status())
await during(4_000, show)
killAtWork(workers[0])
await during(11_000, show)

say('stopping: the source, then the workers, then the queue')
source.stop()
for (const worker of workers) worker.kill('SIGTERM')
await Promise.all(workers.map(ended))
const { keys } = await queue.inspect.list({ state: 'parked' })
for (const { key, failures, lastError } of keys) {
  say(`${key} is parked after ${failures} failures: ${lastError?.message ?? 'no error kept'}`)
}
say(`${source.events} changes cost ${runs} runs. In the file: ${await status()}`)
await queue.close()
