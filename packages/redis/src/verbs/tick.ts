import { type TickReply, type TickRequest, workerMsMax } from '@sluice/core/driver'
import { number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'
import { leasesOf } from './claim.ts'

/** The heartbeat of a waiting queue. */
export async function tick(
  store: Store,
  queue: string,
  { holder, worker, limit, failuresExpireMs }: TickRequest,
): Promise<TickReply> {
  const reply = await store.run('tick', queue, [
    holder,
    worker === undefined ? '' : JSON.stringify(worker),
    String(limit),
    String(failuresExpireMs),
    String(workerMsMax),
  ])
  return {
    now: number(reply[0]),
    nextAt: number(reply[verbStart]),
    paused: reply[verbStart + 1] === 1,
    leaseEnds: leasesOf(reply[verbStart + 2]),
    swept: number(reply[verbStart + 3]),
  }
}
