import {
  type AskOptions,
  type Dedupe,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  never,
} from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { numbers } from '../rows/columns.ts'
import { type Store, verbStart, type Written, writtenOf } from '../store.ts'
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
): Promise<Finished> {
  const args = finishArgs(store, queue, finishes, dedupe)
  return finishedOf(finishes, await store.repeat('finish', queue, args))
}

/** Keys that were given back. */
export interface Finished {
  readonly replies: readonly FinishReply[]
  readonly written: Written
}

/** Gives back held keys. */
export async function finish(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  { dedupe }: AskOptions,
): Promise<Finished> {
  const reply = await store.run('finish', queue, finishArgs(store, queue, finishes, dedupe))
  return finishedOf(finishes, reply)
}

function finishedOf(finishes: readonly Finish[], reply: readonly Reply[]): Finished {
  const replies = finishes.map((_, index) => finishReply(reply[verbStart + index]))
  return { replies, written: writtenOf(reply) }
}

function finishReply(reply: Reply | undefined): FinishReply {
  if (typeof reply === 'number') {
    return { outcome: outcomes[reply] ?? 'lost', dueAt: never, failures: 0 }
  }
  const [outcome = 0, dueAt = never, failures = 0] = numbers(reply)
  return { outcome: outcomes[outcome] ?? 'lost', dueAt, failures }
}
