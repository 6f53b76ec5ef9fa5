import type { Counts, EpochMs, KeyStateWord, LimiterPlan, WorkerRow } from '@sluice/core'
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
}

/** The joint capacity of the workers that take keys. */
interface Capacity {
  readonly workers: readonly WorkerRow[]
  readonly slots: number
  readonly held: number
}

function capacityOf({ workers = [], counts }: ExplainContext): Capacity {
  const taking = workers.filter(({ concurrency }) => concurrency > 0)
  return {
    workers: taking,
    slots: taking.reduce((sum, { concurrency }) => sum + concurrency, 0),
    held: counts.processing + counts.dirty,
  }
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
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

/** Whether workers are online to take a key; relevant only once there is one to take. */
function workerCondition(info: KeyInfo, around: ExplainContext, capacity: Capacity): Condition {
  const code = 'NO_WORKERS'
  if (around.workers === undefined) {
    return { code, ok: null, evidence: 'this store keeps no list of workers' }
  }
  const { workers, slots } = capacity
  if (workers.length === 0) {
    const ok = info.state === 'ready' ? false : null
    return { code, ok, evidence: 'no worker was seen in the last minute' }
  }
  const lastAt = Math.max(...workers.map(({ seenAt }) => seenAt))
  const evidence =
    `${plural(workers.length, 'worker')} for ${plural(slots, 'key')} at a time, ` +
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
        evidence: `${plural(held, 'key')} held, by workers for ${slots} at a time`,
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
      ? `it backs off for ${left} more, after ${plural(failures, 'failure')}${vanishedWords(info)}`
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
        evidence: `held by ${who}; the lease lasts ${durationWords(leaseUntil - now)} unless it is renewed`,
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

/** How often the workers of a key vanished in a row, if they did. */
function vanishedWords({ crashes }: KeyInfo): string {
  return crashes === 0 ? '' : `; in ${plural(crashes, 'run')} in a row its worker vanished`
}

/** Explains why a key does not run: the conditions for a run, in the order in which they matter. */
export function explainKey(info: KeyInfo, around: ExplainContext): Explanation {
  const { now, counts } = around
  const isOwed = info.dueAt !== undefined
  const capacity = capacityOf(around)
  const retry = retryArithmetic(info, around.plan)
  const conditions: Condition[] = [
    ...queueConditions(around),
    {
      code: 'PARKED',
      ok: !info.parked,
      evidence: info.parked
        ? `it is parked, after ${plural(info.failures, 'failure')}${vanishedWords(info)}`
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
    delayCondition(info, now, retry),
    workerCondition(info, around, capacity),
    slotCondition(info, capacity),
    {
      code: 'WAITING_TURN',
      ok: info.state === 'ready' ? null : true,
      evidence:
        info.state === 'ready'
          ? `it is one of ${counts.ready} ready keys, in the order of priority and time`
          : 'not asked until it is ready',
    },
  ]
  const blocking = conditions.find(({ ok }) => ok === false)
  const next = nextOf(info, now)
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

/** The units from the largest down, each with how many milliseconds it has. */
const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** A duration as people say it, with the two largest units that it has: `2 h 5 min`. */
export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const at = units.findIndex(([, unitMs]) => ms >= unitMs)
  const [large, largeMs] = units[at] ?? units[0]
  const [small, smallMs] = units[at + 1] ?? units[3]
  const count = Math.floor(ms / largeMs)
  const rest = Math.floor((ms - count * largeMs) / smallMs)
  return rest === 0 ? `${count} ${large}` : `${count} ${large} ${rest} ${small}`
}
