import { type Driver, failuresExpireMsDefault, type WorkerInfo, workerMsMax } from '@sluice/core'
import { thisProcess } from '../environment/environment.ts'
import { moveHolder } from '../inspect/queue-inspection.ts'

/**
 * What a move leaves with a queue of its source: in `resumes` whether the new store is to hand out
 * keys of the queue at the end, in `hasEnded` whether it has come to that, in `moveId` which call has
 * written it.
 */
export type MoveMark = WorkerInfo['settings']

/** The mark of the last move from a store. */
export async function moveMarkOf(driver: Driver, queue: string): Promise<MoveMark> {
  const workers = (await driver.workers?.(queue, workerMsMax)) ?? []
  return workers.find((worker) => worker.holder === moveHolder)?.settings ?? {}
}

/**
 * Leaves a mark in the source, in its list of workers. A call that continues a move finds the queue
 * paused, and could not know otherwise whether it was paused before the move. A target in which the
 * mark appears is the source under another address.
 */
export async function setMoveMark(driver: Driver, queue: string, mark: MoveMark): Promise<void> {
  if (!driver.capabilities.workers) return
  const holder = moveHolder
  const worker: WorkerInfo = { holder, ...thisProcess(), concurrency: 0, settings: mark }
  await driver.tick(queue, { holder, limit: 1, failuresExpireMs: failuresExpireMsDefault, worker })
}
