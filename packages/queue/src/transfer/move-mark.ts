import { type Driver, failuresExpireMsDefault, type WorkerInfo } from '@sluice/core'
import { thisProcess } from '../environment/environment.ts'

/** The name of a move in the list of workers. */
const holder = 'sluice:move-queues'

/** How long a move that was interrupted is remembered: for as long as stores keep workers. */
const rememberedMs = 24 * 60 * 60 * 1_000

/** Whether the new store is to hand out keys of a queue, as an earlier call has decided. */
export async function moveMarkOf(driver: Driver, queue: string): Promise<boolean | undefined> {
  const workers = (await driver.workers?.(queue, rememberedMs)) ?? []
  const resumes = workers.find((worker) => worker.holder === holder)?.settings['resumes']
  return typeof resumes === 'boolean' ? resumes : undefined
}

/**
 * Remembers that in the source, in its list of workers: a call that continues a move finds the
 * queue paused, and could not know otherwise whether it was paused before the move.
 */
export async function setMoveMark(driver: Driver, queue: string, resumes: boolean): Promise<void> {
  if (!driver.capabilities.workers) return
  const worker: WorkerInfo = { holder, ...thisProcess(), concurrency: 0, settings: { resumes } }
  await driver.tick(queue, { holder, limit: 1, failuresExpireMs: failuresExpireMsDefault, worker })
}
