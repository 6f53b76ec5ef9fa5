import { memoryDriver } from '@sluice/memory'
import { createQueue, createWorker, SluiceError, stopOnSignals } from '../../../src/index.ts'
import { LateDriver } from '../late-driver.ts'

const mode = process.argv[2]
const driver = new LateDriver(memoryDriver())
// A call to a store that says nothing is given up after longer than a test may take.
const silent = { name: 'q', driver, leaseMs: 30_000, timeoutMs: 600_000, ref: true }
const slow = mode === 'damaged' || mode === 'undone' ? { name: 'q', driver } : {}
const queue = createQueue<string>(mode === 'silent' ? silent : slow)
await queue.add('a')

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function onAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      say(`aborted ${signal.reason.code}`)
      resolve()
    })
  })
}

if (mode === 'damaged' || mode === 'undone') {
  driver.before = () => {
    throw new SluiceError('ERR_STORE_DAMAGED', 'damaged')
  }
  const worker = createWorker({ queue, handler: () => undefined, onError: () => undefined })
  const undo = stopOnSignals([worker, queue])
  if (mode === 'undone') undo()
} else if (mode === 'failing') {
  const server = {
    stop(): Promise<void> {
      throw new Error('the server is not running')
    },
  }
  stopOnSignals([server, queue], { exit: true })
  process.once('warning', ({ message }) => say(message))
  say('running')
  // real time: it only keeps this process alive until the signal comes
  setInterval(() => undefined, 1_000)
} else if (mode === 'queue') {
  const held = await queue.get()
  const stopped = onAbort(held!.signal).then(() => held!.release())
  stopOnSignals(queue, { graceMs: 60_000 })
  say('running')
  // Nothing else keeps this process alive until the signal comes.
  // real time: it only keeps this process alive
  const alive = setInterval(() => undefined, 1_000)
  process.once('SIGTERM', () => say('stopping'))
  await stopped
  clearInterval(alive)
} else {
  const stopping = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => {
      say('stopping')
      resolve()
    })
  })
  const worker = createWorker({
    queue,
    handler: async (_item, { signal }) => {
      // real time: it only keeps this process alive
      const alive = setInterval(() => undefined, 1_000)
      say('running')
      if (mode === 'silent') {
        for (const verb of ['add', 'claim', 'finish', 'renew', 'tick', 'close']) driver.hold(verb)
        queue.add('b').catch((error: unknown) => say(`add ${(error as SluiceError).code}`))
        await stopping
      } else if (mode === 'worker') {
        await stopping
        say('finished')
      } else await onAbort(signal)
      clearInterval(alive)
    },
  })
  const graceMs = mode === 'silent' ? 500 : 60_000
  stopOnSignals([worker, queue], { graceMs, exit: mode === 'exit' || mode === 'silent' })
  await worker.stopped
  say('stopped')
}
