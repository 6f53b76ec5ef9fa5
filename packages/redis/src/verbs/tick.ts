import { type TickReply, type TickRequest, workerMsMax } from '@sluice/core/driver'
import { ReplyError } from '../connection/connections.ts'
import { number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'
import { leasesOf } from './claim.ts'
import { recordArgs } from './history.ts'

/** The heartbeat of a waiting queue. */
export async function tick(store: Store, queue: string, request: TickRequest): Promise<TickReply> {
  try {
    return await tickOnce(store, queue, request)
  } catch (error) {
    // While the slot of the queue is moved, no script may name the keys of the records before there is one.
    if (request.record === undefined || !isOfMovingSlot(error)) throw error
    return await tickOnce(store, queue, { ...request, record: undefined })
  }
}

function isOfMovingSlot(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  return cause instanceof ReplyError && cause.code === 'TRYAGAIN'
}

async function tickOnce(
  store: Store,
  queue: string,
  { holder, worker, record, limit, failuresExpireMs }: TickRequest,
): Promise<TickReply> {
  const args = [
    holder,
    worker === undefined ? '' : JSON.stringify(worker),
    String(limit),
    String(failuresExpireMs),
    String(workerMsMax),
    ...(record === undefined ? ['0'] : ['1', ...recordArgs(record)]),
  ]
  const reply = await store.run('tick', queue, args, { usesRecords: record !== undefined })
  return {
    now: number(reply[0]),
    nextAt: number(reply[verbStart]),
    leaseEnds: leasesOf(reply[verbStart + 1]),
    swept: number(reply[verbStart + 2]),
    ...(record !== undefined && { recorded: true }),
  }
}
