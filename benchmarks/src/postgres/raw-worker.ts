import { rawAddMany, rawClaim, rawRemove, rawTable } from './raw-table.ts'
import type { Connections } from './server.ts'
import { batchesOf } from './turns.ts'
import type { WorkerSide } from './worker-sides.ts'

/** How many keys are claimed at a time, and how many may be claimed ahead. */
const claimKeys = 250
const aheadMax = 500

/**
 * The same handlers on the hand-written statements: keys are claimed ahead, and deleted in batches while
 * handlers run. It has no leases to renew, no signals, and nothing to do for a key that fails: the least
 * that a worker with handlers in this process can cost.
 */
export async function rawWorker(server: Connections): Promise<WorkerSide> {
  await server.sql(rawTable)
  const pool = server.pool(4)
  type Claimed = Awaited<ReturnType<typeof rawClaim>>[number]
  return {
    async fill(keys) {
      await server.sql('truncate raw.jobs')
      for (const some of batchesOf(keys, 1_000)) await rawAddMany(pool, some)
    },
    async work(concurrency, handler, all) {
      const ahead: Claimed[] = []
      let done: Claimed[] = []
      let waiting: ((key: Claimed | undefined) => void)[] = []
      let isEnded = false
      let claiming: Promise<void> | undefined
      let removing: Promise<void> | undefined
      const claim = async (): Promise<void> => {
        while (!isEnded && ahead.length <= aheadMax / 2) {
          const claimed = await rawClaim(pool, claimKeys)
          isEnded = claimed.length < claimKeys
          ahead.push(...claimed)
          while (waiting.length > 0 && ahead.length > 0) waiting.shift()?.(ahead.shift())
        }
        if (isEnded) for (const resolve of waiting) resolve(undefined)
        if (isEnded) waiting = []
        claiming = undefined
      }
      const remove = async (): Promise<void> => {
        // One turn of the event loop, so that what ends together is deleted together.
        await new Promise<void>((resolve) => setImmediate(resolve))
        while (done.length > 0) {
          const some = done
          done = []
          await rawRemove(pool, some)
        }
        removing = undefined
      }
      const loop = async (): Promise<void> => {
        for (;;) {
          let key = ahead.shift()
          if (ahead.length <= aheadMax / 2 && !isEnded) claiming ??= claim()
          if (key === undefined && isEnded) return
          key ??= await new Promise<Claimed | undefined>((resolve) => waiting.push(resolve))
          if (key === undefined) return
          await handler()
          done.push(key)
          removing ??= remove()
        }
      }
      await Promise.all(Array.from({ length: concurrency }, loop))
      await all
      await claiming
      await removing
    },
    end: async () => undefined,
  }
}
