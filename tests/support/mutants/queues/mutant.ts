import type { Breakage } from './broken-queues.ts'

/** A queue with one thing wrong, which the queue half of the suite has to notice. */
export interface QueueMutant {
  readonly id: string
  readonly title: string
  /** Made for each case. */
  breakage(): Breakage
}

export function mutant(id: string, title: string, breakage: () => Breakage): QueueMutant {
  return { id, title, breakage }
}

/** Options of a driver's verbs, where a mutant goes past the queue. */
export const whole = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
