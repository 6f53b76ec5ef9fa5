import { heartbeatMs } from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { LoopWatch } from './loop-watch.ts'

/**
 * Why a worker is not ready or not live: stable words.
 *
 * - `FAILED`: it had to end; `worker.stopped` says why. Not live.
 * - `NOT_BEATING`: its timers do not run. Not live.
 * - `NOT_RENEWING`: leases are not renewed any more. Not live.
 * - `STOPPED`, `STOPPING`: `stop` was called.
 * - `QUEUE_SHUT_DOWN`, `QUEUE_CLOSED`: its queue gives it nothing more.
 * - `STORE_NOT_OPEN`: the store has not answered yet.
 * - `STORE_IN_TROUBLE`: the store does not answer, or refuses for a reason that may pass.
 * - `DEGRADED`: that has lasted for 30 s; the worker retries for ever, but the store probably needs
 *   help.
 * - `LOOP_BLOCKED`: the event loop was blocked within the last 10 s.
 */
export type HealthReason =
  | 'FAILED'
  | 'NOT_BEATING'
  | 'NOT_RENEWING'
  | 'STOPPED'
  | 'STOPPING'
  | 'QUEUE_SHUT_DOWN'
  | 'QUEUE_CLOSED'
  | 'STORE_NOT_OPEN'
  | 'STORE_IN_TROUBLE'
  | 'DEGRADED'
  | 'LOOP_BLOCKED'

/** The health of a worker. */
export interface WorkerHealth {
  /**
   * False if only a restart of the process helps. Trouble with the store does not make it false.
   */
  readonly live: boolean
  /** Whether it takes keys and gets on with them. */
  readonly ready: boolean
  /** Why it is not ready; empty if it is. */
  readonly reasons: readonly HealthReason[]
  /** How many handlers are running. */
  readonly running: number
  /** How many handlers have returned whose finishes the store has not acknowledged. */
  readonly finishing: number
}

/** The state of a worker from which its health is derived. */
export interface HealthInputs {
  readonly core: QueueCore
  readonly loopWatch: LoopWatch
  /** On the monotonic clock. */
  readonly beatAt: number
  readonly phase: 'running' | 'stopping' | 'stopped' | 'failed'
  readonly running: number
  readonly finishing: number
}

const deadly: ReadonlySet<HealthReason> = new Set(['FAILED', 'NOT_BEATING', 'NOT_RENEWING'])

function reasonsOf({ core, loopWatch, beatAt, phase }: HealthInputs): HealthReason[] {
  if (phase === 'failed') return ['FAILED']
  if (phase === 'stopped') return ['STOPPED']
  const reasons: HealthReason[] = []
  const { calls, keeper } = core
  const { handle, health } = calls
  if (handle.clock.monotonicMs() - beatAt > 3 * heartbeatMs) reasons.push('NOT_BEATING')
  if (keeper.isOverdue) reasons.push('NOT_RENEWING')
  if (phase === 'stopping') reasons.push('STOPPING')
  if (core.phase === 'shutting-down') reasons.push('QUEUE_SHUT_DOWN')
  else if (core.phase !== 'open') reasons.push('QUEUE_CLOSED')
  else if (!handle.isOpen) reasons.push('STORE_NOT_OPEN')
  if (health.isInTrouble) reasons.push('STORE_IN_TROUBLE')
  if (health.isDegraded) reasons.push('DEGRADED')
  if (loopWatch.wasBlockedWithin(heartbeatMs)) reasons.push('LOOP_BLOCKED')
  return reasons
}

/** The health of a worker. Synchronous, and makes no calls. */
export function healthOf(inputs: HealthInputs): WorkerHealth {
  const reasons = reasonsOf(inputs)
  return {
    live: !reasons.some((reason) => deadly.has(reason)),
    ready: reasons.length === 0,
    reasons,
    running: inputs.running,
    finishing: inputs.finishing,
  }
}
