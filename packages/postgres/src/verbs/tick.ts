import type { SluiceError } from '@sluice/core'
import type { Lease, TickReply, TickRequest } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { flag, instant, number } from '../rows/columns.ts'
import { recordValues } from '../rows/history.ts'

/** The verb tick. */
export async function tick(
  store: Store,
  channel: string,
  queue: string,
  { holder, worker, record, limit, failuresExpireMs }: TickRequest,
): Promise<TickReply> {
  const moment = store.time.moment()
  const values = [
    queue,
    worker?.holder ?? holder,
    worker?.host ?? null,
    worker?.pid ?? null,
    worker?.concurrency ?? null,
    worker === undefined
      ? null
      : JSON.stringify({ settings: worker.settings, stats: worker.stats }),
    limit,
    failuresExpireMs,
    moment.now,
    moment.least,
  ]
  let failure: SluiceError | undefined
  // An idle queue sends one statement: it also shows that the connection that listens is alive.
  const overListener = await store
    .runOverListener('tickOverListener', [...values, ...recordValues(record), channel])
    .catch((error: SluiceError) => {
      failure = error
    })
  // A record that may have been added must not come again.
  const again = failure === undefined ? record : undefined
  const rows =
    overListener ??
    (await store.run('tick', [...values, ...recordValues(again)]).catch((error: unknown) => {
      throw failure ?? error
    }))
  const leaseEnds: Lease[] = []
  const reply = {
    now: 0,
    nextAt: Infinity,
    swept: 0,
    recorded: failure?.code === 'ERR_UNKNOWN_OUTCOME',
  }
  for (const row of rows) {
    if (number(row['kind']) === 0) {
      reply.now = number(row['now'])
      store.time.noteRow(row, moment)
      reply.nextAt = instant(row['next_at'])
      reply.swept = number(row['swept'])
      reply.recorded ||= flag(row['recorded'])
    } else {
      leaseEnds.push({ key: String(row['key']), token: number(row['token']) })
    }
  }
  return { ...reply, recorded: record && reply.recorded, leaseEnds }
}
