/** Each condition for a run of a key, as words that are true when it is met. */
export const conditionStatements = {
  NOT_FOUND: 'Stored',
  QUEUE_PAUSED: 'Queue not paused',
  QUEUE_SHUTTING_DOWN: 'Queue accepts keys',
  NO_WORKERS: 'Workers online',
  WORKERS_BUSY: 'A worker has a free slot',
  PARKED: 'Not parked',
  NOTHING_PENDING: 'A run is pending',
  PROCESSING: 'Not held',
  LEASE_EXPIRED_AWAITING_REAP: 'Last lease released',
  REQUEUED_AFTER_DONE: 'Added again',
  DELAYED: 'Delay elapsed',
  BACKOFF_ITEM: 'Back-off elapsed',
  BACKOFF_BUCKET: 'Tokens available',
  WAITING_TURN: 'Its turn',
} as const

/** The code of a condition. */
export type ConditionCode = keyof typeof conditionStatements

/** The conditions whose evidence says more than their words while they are met. */
const telling: ReadonlySet<ConditionCode> = new Set(['NO_WORKERS', 'WORKERS_BUSY'])

/** A condition in words. */
export interface ConditionWords {
  readonly statement: string
  /** Only if the condition is not met: a code names what is wrong. */
  readonly code?: ConditionCode
  /** Absent if it would repeat the statement. */
  readonly evidence?: string
}

/**
 * A condition of `explain` as the page and the command line show it: positive words, the code only
 * if it is not met, and the evidence unless it repeats the words.
 */
export function conditionWords({
  code,
  ok,
  evidence,
}: {
  readonly code: ConditionCode
  /** Whether it is met; `null` if that is unknown, or does not matter yet. */
  readonly ok: boolean | null
  readonly evidence: string
}): ConditionWords {
  const says = ok !== true || telling.has(code)
  return {
    statement: conditionStatements[code],
    ...(ok === false ? { code } : {}),
    ...(says ? { evidence } : {}),
  }
}
