/**
 * Waits for keys that do not come, and says which share of a core that took, and which share timers take that
 * do nothing as often, in hundredths: each the least of a few windows, since all of them are equally busy, and
 * the machine adds to some; and how often it looks in a second. The minute after which it looks less often passes
 * quicker here.
 */
import { type Clock, systemClock } from '@sluice/core'
import { Connection } from '../../src/connection/connection.ts'
import { FileSource } from '../../src/connection/database-source.ts'
import { sqliteEnvironment } from '../../src/connection/environment.ts'
import { loadLibrary } from '../../src/library/library.ts'

const source = new FileSource({
  file: process.argv[2] ?? '',
  library: loadLibrary(undefined),
  durability: 'process',
  migrate: 'apply',
  mustExist: false,
  unsafeFilesystem: true,
  ownership: 'ours',
})
let looks = 0
const clock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * 200,
  startTicker: (ms, onTick) =>
    systemClock.startTicker(ms, () => {
      looks += 1
      onTick()
    }),
}
const connection = new Connection(source, { ...sqliteEnvironment, clock }, 1_000)

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.startTimer(ms, resolve).ref()
  })
}

/** The least share of a core that this process takes for a while, in hundredths. */
async function share(): Promise<number> {
  await wait(1_000)
  const shares: number[] = []
  while (shares.length < 5) {
    const usedBefore = process.cpuUsage()
    const startedAt = systemClock.monotonicMs()
    await wait(1_000)
    const { user, system } = process.cpuUsage(usedBefore)
    shares.push((user + system) / 1_000 / (systemClock.monotonicMs() - startedAt))
  }
  return Math.min(...shares) * 100
}

const ticker = systemClock.startTicker(50, () => {})
const timers = await share()
ticker.stop()
await connection.open(systemClock)
connection.wakeSignal.watch(() => {})
await wait(1_000)
const [looksBefore, idleFrom] = [looks, systemClock.monotonicMs()]
const idle = await share()
const perSecond = (looks - looksBefore) / ((systemClock.monotonicMs() - idleFrom) / 1_000)
console.log(JSON.stringify({ idle, timers, perSecond }))
connection.close()
