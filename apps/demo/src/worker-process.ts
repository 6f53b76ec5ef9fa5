// One worker process of the demo: `node worker-process.ts FILE`. It tells its parent what it does.
import { setTimeout as wait } from 'node:timers/promises'
import { sqliteDriver } from '@sluice/sqlite'
import { createWorker } from 'sluice'
import { demoQueue } from './demo-queue.ts'

const file = process.argv[2]
if (file === undefined) throw new Error('worker-process.ts needs the name of the file')

const tell = (text: string): void => {
  process.send?.(text)
}

const queue = demoQueue(sqliteDriver({ file }))
const worker = createWorker<string>({
  queue,
  concurrency: 2,
  maxFailures: 3,
  onExhausted: 'park',
  handler: async (name, { failures, crashes }) => {
    // Sent before the work: a worker that is killed now has taken the key and not given it back.
    tell('run')
    if (crashes > 0) tell(`${name} came back after its worker was killed`)
    if (name === 'default/mail') {
      tell(`${name} fails (${failures + 1} of 3)`)
      throw new Error('the mail server refuses')
    }
    if (name === 'default/search' && failures < 2) {
      tell(`${name} fails, and comes back later`)
      throw new Error('the index is locked')
    }
    await wait(name === 'default/billing' ? 800 : 120)
    // Looked at again by and by, whether it changes or not.
    return name.endsWith('/reports') ? { requeueAfterMs: 10_000 } : undefined
  },
})

const stop = async (): Promise<void> => {
  await worker.stop({ graceMs: 1_000 })
  await queue.close()
  process.exit(0)
}
process.on('SIGTERM', () => void stop())
process.on('disconnect', () => void stop())
// Ctrl-C reaches the whole group; the parent says when to stop.
process.on('SIGINT', () => undefined)
