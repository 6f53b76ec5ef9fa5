import {
  type AskOptions,
  type Dedupe,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  never,
} from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { number, numbers } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'
import { Plans } from './plans.ts'

const outcomes: readonly FinishOutcome[] = ['idle', 'ready', 'delayed', 'parked', 'lost']

function finishArgs(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  dedupe: Dedupe,
): readonly string[] {
  const plans = new Plans(store.layout, queue)
  const entries: string[] = []
  for (const each of finishes) entries.push(each.key, String(each.token), wayOf(each, plans))
  return [dedupe, ...plans.args, String(finishes.length), ...entries]
}

function wayOf(finish: Finish, plans: Plans): string {
  switch (finish.as) {
    case 'done': {
      const { again, forget } = finish
      if (again !== undefined) return JSON.stringify(['a', again.delayMs, again.priority, forget])
      return forget ? 'f' : 'd'
    }
    case 'release':
      return 'r'
    case 'park':
      return JSON.stringify(['p', finish.error ?? null])
    case 'retry': {
      const { delayMs, plan, jitter = 0, error = null, priority = null } = finish
      return JSON.stringify(['t', delayMs, plans.numberOf(plan), jitter, error, priority])
    }
  }
}

/** Gives back keys again, after another server has become the primary. */
export async function repeatFinishes(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  dedupe: Dedupe = 'earliest',
): Promise<void> {
  await store.repeat('finish', queue, finishArgs(store, queue, finishes, dedupe))
}

/** Gives back held keys. */
export async function finish(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  { dedupe }: AskOptions,
): Promise<{ readonly replies: readonly FinishReply[]; readonly lastSeq: number }> {
  const reply = await store.run('finish', queue, finishArgs(store, queue, finishes, dedupe))
  const replies = finishes.map((_, index) => finishReply(reply[verbStart + index]))
  return { replies, lastSeq: number(reply[4]) }
}

function finishReply(reply: Reply | undefined): FinishReply {
  if (typeof reply === 'number') {
    return { outcome: outcomes[reply] ?? 'lost', dueAt: never, failures: 0 }
  }
  const [outcome = 0, dueAt = never, failures = 0] = numbers(reply)
  return { outcome: outcomes[outcome] ?? 'lost', dueAt, failures }
}
