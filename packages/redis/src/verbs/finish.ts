import {
  type AskOptions,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  never,
} from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { numbers } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'
import { Plans } from './plans.ts'

const outcomes: readonly FinishOutcome[] = ['idle', 'ready', 'delayed', 'parked', 'lost']

function wayOf(finish: Finish, plans: Plans): string {
  switch (finish.as) {
    case 'done':
      return finish.forget ? 'f' : 'd'
    case 'release':
      return 'r'
    case 'park':
      return JSON.stringify(['p', finish.error ?? null])
    case 'retry': {
      const { delayMs, plan, jitter = 0, error = null } = finish
      return JSON.stringify(['t', delayMs, plans.numberOf(plan), jitter, error])
    }
  }
}

/** Gives back held keys. */
export async function finish(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  { dedupe }: AskOptions,
): Promise<readonly FinishReply[]> {
  const plans = new Plans(store.layout, queue)
  const entries: string[] = []
  for (const each of finishes) entries.push(each.key, String(each.token), wayOf(each, plans))
  const reply = await store.run('finish', queue, [
    dedupe,
    ...plans.args,
    String(finishes.length),
    ...entries,
  ])
  return finishes.map((_, index) => finishReply(reply[verbStart + index]))
}

function finishReply(reply: Reply | undefined): FinishReply {
  if (typeof reply === 'number') {
    return { outcome: outcomes[reply] ?? 'lost', dueAt: never, failures: 0 }
  }
  const [outcome = 0, dueAt = never, failures = 0] = numbers(reply)
  return { outcome: outcomes[outcome] ?? 'lost', dueAt, failures }
}
