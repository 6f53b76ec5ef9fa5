import { createQueue, createWorker, stopOnSignals } from '../../src/index.ts'

const mode = process.argv[2]
const queue = createQueue<string>({})
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

if (mode === 'queue') {
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
      if (mode === 'worker') {
        await stopping
        say('finished')
      } else await onAbort(signal)
      clearInterval(alive)
    },
  })
  stopOnSignals([worker, queue], { graceMs: 60_000, exit: mode === 'exit' })
  await worker.stopped
  say('stopped')
}
