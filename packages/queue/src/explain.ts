import { type EpochMs, type KeyStateWord, type LimiterPlan, perKeyDelay } from '@sluice/core'
import type { Condition, Explanation, KeyInfo, ReasonCode } from './inspect.ts'

/** What is known of the queue around a key. */
export interface Surroundings {
  readonly now: EpochMs
  readonly isPaused: boolean
  readonly isShuttingDown: boolean
  /** How many workers were seen lately; `undefined` where nobody keeps a list. */
  readonly workers: number | undefined
  /** How many keys are ready. */
  readonly ready: number
  /** The limiter, if the store follows one. */
  readonly plan: LimiterPlan | undefined
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

function queueConditions(around: Surroundings): Condition[] {
  const { isPaused, isShuttingDown } = around
  return [
    {
      code: 'QUEUE_PAUSED',
      ok: !isPaused,
      evidence: isPaused ? 'the queue is paused' : 'the queue is not paused',
    },
    {
      code: 'QUEUE_SHUTTING_DOWN',
      ok: !isShuttingDown,
      evidence: isShuttingDown
        ? 'this queue object was shut down; others on the same store may go on'
        : 'this queue object takes keys',
    },
  ]
}

/** Whether anybody is there to take a key; asked only once there is one to take. */
function workerCondition(info: KeyInfo, { workers }: Surroundings): Condition {
  const code = 'NO_WORKERS'
  if (workers === undefined) {
    return { code, ok: null, evidence: 'this store keeps no list of workers' }
  }
  const evidence = `${workers} workers were seen in the last minute`
  return { code, ok: workers > 0 ? true : info.state === 'ready' ? false : null, evidence }
}

function delayCode(info: KeyInfo, around: Surroundings): ReasonCode {
  if (info.why !== 'backoff') return 'DELAYED'
  const { plan } = around
  if (plan === undefined || info.dueAt === undefined || info.askedAt === undefined) {
    return 'BACKOFF_ITEM'
  }
  // A key waits longer than its own failures say only if a bucket made it wait.
  const ownMs = perKeyDelay(plan, Math.max(0, info.failures - 1), 1 - Number.EPSILON)
  return info.dueAt - info.askedAt > ownMs + 1 ? 'BACKOFF_BUCKET' : 'BACKOFF_ITEM'
}

function delayCondition(info: KeyInfo, around: Surroundings): Condition {
  const { dueAt } = info
  const code = delayCode(info, around)
  if (dueAt === undefined || dueAt <= around.now) {
    return { code, ok: true, evidence: 'it is due' }
  }
  const left = seconds(dueAt - around.now)
  const evidence =
    info.why === 'backoff'
      ? `it backs off for ${left} more, after ${info.failures} failures`
      : `it is delayed for ${left} more`
  return { code, ok: false, until: dueAt, evidence }
}

function heldCondition(info: KeyInfo, now: EpochMs): Condition {
  const { held } = info
  if (held === undefined) return { code: 'PROCESSING', ok: true, evidence: 'nobody holds it' }
  const who = `${held.holder ?? 'somebody'} under token ${held.token}`
  const { leaseUntil } = held
  if (leaseUntil === undefined) {
    return { code: 'PROCESSING', ok: false, evidence: `held by ${who}, without a lease` }
  }
  return leaseUntil > now
    ? {
        code: 'PROCESSING',
        ok: false,
        until: leaseUntil,
        evidence: `held by ${who}; the lease lasts ${seconds(leaseUntil - now)} unless it is renewed`,
      }
    : {
        code: 'LEASE_EXPIRED_AWAITING_REAP',
        ok: false,
        evidence: `${who} has let the lease run out; the next worker that looks gives the key back`,
      }
}

function nextOf(info: KeyInfo, now: EpochMs): Explanation['next'] {
  const { state, dueAt, held } = info
  if (held !== undefined) {
    return held.leaseUntil === undefined
      ? undefined
      : { at: held.leaseUntil, to: afterLease(state) }
  }
  if (info.parked || dueAt === undefined || dueAt <= now) return undefined
  return { at: dueAt, to: 'ready' }
}

function afterLease(state: KeyStateWord): KeyStateWord {
  return state === 'dirty' ? 'ready' : 'backoff'
}

/** Says why a key that is not stored does not run. */
export function explainAbsent(key: string, now: EpochMs): Explanation {
  return {
    key,
    state: 'absent',
    blockedBy: 'NOT_FOUND',
    conditions: [
      { code: 'NOT_FOUND', ok: false, evidence: 'nothing is owed to this key: it is not stored' },
    ],
    inspectedAt: now,
  }
}

/** Says why a key does not run: what must be so, in the order in which it matters. */
export function explainKey(info: KeyInfo, around: Surroundings): Explanation {
  const { now } = around
  const isOwed = info.dueAt !== undefined
  const conditions: Condition[] = [
    ...queueConditions(around),
    {
      code: 'PARKED',
      ok: !info.parked,
      evidence: info.parked
        ? `it is parked, after ${info.failures} failures and ${info.crashes} crashes`
        : 'it is not parked',
    },
    heldCondition(info, now),
    {
      code: info.held === undefined ? 'NOTHING_OWED' : 'REQUEUED_AFTER_DONE',
      ok: isOwed,
      evidence: isOwed
        ? 'a run is owed to it'
        : info.held === undefined
          ? 'nothing is owed to it; only its failures are kept'
          : 'it was not asked for again since it was taken',
    },
    delayCondition(info, around),
    workerCondition(info, around),
    {
      code: 'WAITING_TURN',
      ok: info.state === 'ready' ? null : true,
      evidence:
        info.state === 'ready'
          ? `it is one of ${around.ready} ready keys, in the order of priority and time`
          : 'not asked until it is ready',
    },
  ]
  const blocking = conditions.find(({ ok }) => ok === false)
  const next = nextOf(info, now)
  return {
    key: info.key,
    state: info.state,
    ...(blocking === undefined ? {} : { blockedBy: blocking.code }),
    conditions,
    ...(next === undefined ? {} : { next }),
    inspectedAt: now,
  }
}
