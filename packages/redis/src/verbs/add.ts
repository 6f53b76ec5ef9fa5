import type { AddOutcome, Ask, AskOptions, AskReply } from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { number, numbers } from '../rows/columns.ts'
import { type Store, verbStart, type Written, writtenOf } from '../store.ts'
import { Plans } from './plans.ts'

const outcomes: readonly AddOutcome[] = ['added', 'moved', 'unchanged', 'parked', 'full']

function optionsOf(ask: Ask, plans: Plans): string {
  const { priority, delayMs, maxWaitMs, failed = false, plan, jitter = 0, trace } = ask
  const isPlain =
    priority === 0 && delayMs <= 0 && !failed && plan === undefined && trace === undefined
  if (isPlain) return ''
  const number = plans.numberOf(plan)
  return JSON.stringify([
    priority,
    delayMs,
    maxWaitMs ?? null,
    failed,
    number,
    jitter,
    trace ?? null,
  ])
}

/** Keys that were added. */
export interface Added {
  readonly replies: readonly AskReply[]
  readonly written: Written
}

/** Adds keys. */
export async function add(
  store: Store,
  queue: string,
  asks: readonly Ask[],
  { dedupe, failuresExpireMs, maxPending }: AskOptions,
): Promise<Added> {
  const plans = new Plans(store.layout, queue)
  const entries: string[] = []
  for (const ask of asks) entries.push(ask.key, ask.item ?? '', optionsOf(ask, plans))
  const reply = await store.run('add', queue, [
    dedupe,
    String(failuresExpireMs),
    maxPending === undefined ? '' : String(maxPending),
    ...plans.args,
    String(asks.length),
    ...entries,
  ])
  const now = number(reply[0])
  const replies = asks.map(({ plan }, index) =>
    askReply(reply[verbStart + index], now, plan !== undefined),
  )
  return { replies, written: writtenOf(reply) }
}

function askReply(reply: Reply | undefined, now: number, isPlanned: boolean): AskReply {
  if (typeof reply === 'number') {
    return reply === 0
      ? { outcome: 'added', dueAt: now, failures: 0 }
      : { outcome: 'unchanged', dueAt: reply - 1, failures: 0 }
  }
  const [outcome = 0, dueAt = 0, failures = 0, plannedMs] = numbers(reply)
  return {
    outcome: outcomes[outcome] ?? 'unchanged',
    dueAt,
    failures,
    ...(isPlanned && plannedMs !== undefined && { plannedMs }),
  }
}
