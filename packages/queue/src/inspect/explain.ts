import { type Counts, type EpochMs, type LimiterPlan, never, type WorkerRow } from '@sluice/core'
import { atLeastWords, durationWords, manyWords } from '@sluice/core/words'
import { isGone } from '../judge/judge-queue.ts'
import { estimate } from './estimate.ts'
import type { Condition, Explanation, KeyInfo, ReasonCode, RetryArithmetic } from './inspect.ts'
import { retryArithmetic } from './retry-arithmetic.ts'

/** The state of the queue around a key. */
export interface ExplainContext {
  readonly now: EpochMs
  readonly isShuttingDown: boolean
  /** The workers that were seen recently; `undefined` where the driver keeps no list. */
  readonly workers: readonly WorkerRow[] | undefined
  readonly counts: Counts
  /** The plan by which failed keys come back, if it is known. */
  readonly plan: LimiterPlan | undefined
  /** After how many crashes in a row this queue object parks a key. */
  readonly maxCrashes: number
}

/** The joint capacity of the workers that take keys. */
interface Capacity {
  readonly workers: readonly WorkerRow[]
  readonly slots: number
  readonly held: number
}

function capacityOf({ workers = [], counts, now }: ExplainContext): Capacity {
  const taking = workers.filter((each) => each.concurrency > 0 && !isGone(each, now))
  return {
    workers: taking,
    slots: taking.reduce((sum, { concurrency }) => sum + concurrency, 0),
    held: counts.processing + counts.dirty,
  }
}

function queueConditions(around: ExplainContext): Condition[] {
  const { isShuttingDown } = around
  const isPaused = around.counts.paused
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

/** Whether workers are online to take a key or to end its lease; relevant only once one has to. */
function workerCondition(info: KeyInfo, around: ExplainContext, capacity: Capacity): Condition {
  const code = 'NO_WORKERS'
  if (around.workers === undefined) {
    return { code, ok: null, evidence: 'this store keeps no list of workers' }
  }
  const { workers, slots } = capacity
  if (workers.length === 0) {
    const isNeeded = info.state === 'ready' || (info.held?.leaseUntil ?? never) <= around.now
    const ok = isNeeded ? false : null
    return { code, ok, evidence: 'no worker is online' }
  }
  const lastAt = Math.max(...workers.map(({ seenAt }) => seenAt))
  const evidence =
    `${manyWords(workers.length, 'worker')} for ${manyWords(slots, 'key')} at a time, ` +
    `last seen ${durationWords(Math.max(0, around.now - lastAt))} ago`
  return { code, ok: true, evidence }
}

/** Whether a handler is free to take the key. */
function slotCondition(info: KeyInfo, { slots, held }: Capacity): Condition {
  const code = 'WORKERS_BUSY'
  if (info.state !== 'ready') return { code, ok: null, evidence: 'not asked until it is ready' }
  if (slots === 0) return { code, ok: null, evidence: 'there is no worker to be busy' }
  return held >= slots
    ? {
        code,
        ok: false,
        evidence: `${manyWords(held, 'key')} held, by workers for ${slots} at a time`,
      }
    : { code, ok: true, evidence: `${held} of ${slots} handlers are busy` }
}

function delayCode(info: KeyInfo, retry: RetryArithmetic | undefined): ReasonCode {
  if (info.why !== 'backoff') return 'DELAYED'
  return retry?.bucketMs === undefined ? 'BACKOFF_ITEM' : 'BACKOFF_BUCKET'
}

function delayCondition(
  info: KeyInfo,
  now: EpochMs,
  retry: RetryArithmetic | undefined,
): Condition {
  const { dueAt, failures } = info
  const code = delayCode(info, retry)
  if (dueAt === undefined || dueAt <= now) return { code, ok: true, evidence: 'it is due' }
  const left = durationWords(dueAt - now)
  const evidence =
    info.why === 'backoff'
      ? `back-off for ${left} more, after ${manyWords(failures, 'failure')}${vanishedWords(info)}`
      : `delayed for ${left} more`
  return { code, ok: false, until: dueAt, evidence }
}

function heldCondition(info: KeyInfo, now: EpochMs): Condition {
  const { held } = info
  if (held === undefined) return { code: 'PROCESSING', ok: true, evidence: 'no worker holds it' }
  const who = `${held.holder ?? 'an unknown holder'} under token ${held.token}`
  const { leaseUntil } = held
  if (leaseUntil === undefined) {
    return { code: 'PROCESSING', ok: false, evidence: `held by ${who}, without a lease` }
  }
  return leaseUntil > now
    ? {
        code: 'PROCESSING',
        ok: false,
        until: leaseUntil,
        evidence: `held by ${who}; the lease lasts ${durationWords(leaseUntil - now)} unless it is renewed`,
      }
    : {
        code: 'LEASE_EXPIRED_AWAITING_REAP',
        ok: false,
        evidence: `the lease of ${who} has expired; the next worker that looks gives the key back`,
      }
}

function nextOf(info: KeyInfo, now: EpochMs, maxCrashes: number): Explanation['next'] {
  const { dueAt = never, held, crashes } = info
  const parked = info.parked || (held !== undefined && crashes + 1 >= maxCrashes)
  if (held !== undefined) {
    const { leaseUntil } = held
    if (leaseUntil === undefined) return undefined
    // A run that is due by then is ready at once; the lost run alone waits for its back-off.
    const isDue = dueAt <= Math.max(leaseUntil, now)
    return { at: leaseUntil, to: parked ? 'parked' : isDue ? 'ready' : 'backoff' }
  }
  return parked || dueAt === never || dueAt <= now ? undefined : { at: dueAt, to: 'ready' }
}

/** Says why a key that is not stored does not run. */
export function explainAbsent(key: string, now: EpochMs): Explanation {
  return {
    key,
    state: 'absent',
    blockedBy: 'NOT_FOUND',
    conditions: [
      { code: 'NOT_FOUND', ok: false, evidence: 'nothing is pending: the key is not stored' },
    ],
    inspectedAt: now,
  }
}

/** How often the workers of a key vanished in a row, if they did. */
function vanishedWords({ crashes }: KeyInfo): string {
  return crashes === 0 ? '' : `; in ${manyWords(crashes, 'run')} in a row its worker vanished`
}

/** Explains why a key does not run: the conditions for a run, in the order in which they matter. */
export function explainKey(info: KeyInfo, around: ExplainContext): Explanation {
  const { now, counts } = around
  const isPending = info.dueAt !== undefined
  const capacity = capacityOf(around)
  const retry = retryArithmetic(info, around.plan)
  const conditions: Condition[] = [
    ...queueConditions(around),
    {
      code: 'PARKED',
      ok: !info.parked,
      evidence: info.parked
        ? `it is parked, after ${manyWords(info.failures, 'failure')}${vanishedWords(info)}`
        : 'it is not parked',
    },
    heldCondition(info, now),
    {
      code: info.held === undefined ? 'NOTHING_PENDING' : 'REQUEUED_AFTER_DONE',
      ok: isPending,
      evidence: isPending
        ? 'a run is pending'
        : info.held === undefined
          ? 'nothing is pending; only its failure count is kept'
          : 'it was not added again since it was claimed',
    },
    delayCondition(info, now, retry),
    workerCondition(info, around, capacity),
    slotCondition(info, capacity),
    {
      code: 'WAITING_TURN',
      ok: null,
      evidence:
        info.state === 'ready'
          ? `it is one of ${atLeastWords(counts.ready, counts.capped)} ready keys, in the order of priority and time`
          : 'not asked until it is ready',
    },
  ]
  const blocking = conditions.find(({ ok }) => ok === false)
  const next = nextOf(info, now, around.maxCrashes)
  const start =
    counts.paused || around.isShuttingDown
      ? undefined
      : estimate(info, { ...capacity, now, ready: counts.ready, isCapped: counts.capped })
  return {
    key: info.key,
    state: info.state,
    info,
    ...(blocking === undefined ? {} : { blockedBy: blocking.code }),
    conditions,
    ...(next === undefined ? {} : { next }),
    ...(retry === undefined ? {} : { retry }),
    ...(start === undefined ? {} : { estimate: start }),
    inspectedAt: now,
  }
}
