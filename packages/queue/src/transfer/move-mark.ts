import { type Driver, failuresExpireMsDefault, type WorkerInfo } from '@sluice/core'
import { thisProcess } from '../environment/environment.ts'

/** Under which name a migration is on the list of workers. */
const holder = 'sluice:migrate'

/** How long a migration that was interrupted is remembered: for as long as stores keep workers. */
const rememberedMs = 24 * 60 * 60 * 1_000

/** Whether a queue is to be handed out at its new place: what an earlier migration settled. */
export async function markOf(driver: Driver, queue: string): Promise<boolean | undefined> {
  const workers = (await driver.workers?.(queue, rememberedMs)) ?? []
  const resumes = workers.find((worker) => worker.holder === holder)?.settings['resumes']
  return typeof resumes === 'boolean' ? resumes : undefined
}

/**
 * Remembers it in the store that is moved from, on its list of workers: a migration that is made
 * again finds the queue paused, and could not tell otherwise by whom.
 */
export async function setMark(driver: Driver, queue: string, resumes: boolean): Promise<void> {
  if (!driver.capabilities.workers) return
  const worker: WorkerInfo = { holder, ...thisProcess(), concurrency: 0, settings: { resumes } }
  await driver.tick(queue, { holder, limit: 1, failuresExpireMs: failuresExpireMsDefault, worker })
}
