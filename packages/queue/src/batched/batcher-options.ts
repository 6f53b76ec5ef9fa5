import type { Awaitable, Failure } from '@sluice/core'
import type { Job } from './batch-job.ts'

/** What distinguishes one lane from another. */
export interface LaneOptions<Request, Reply> {
  /** Sends one step to the driver: jobs of one kind, of different keys. */
  send(kind: string, jobs: readonly Job<Request, Reply>[]): Awaitable<readonly (Reply | Failure)[]>
  /**
   * Merges a job into an earlier one of the same step and key; gives what the later one is answered,
   * or `undefined` if the two cannot share a step.
   */
  merge?(
    earlier: Job<Request, Reply>,
    later: Job<Request, Reply>,
  ): ((reply: Reply) => Reply) | undefined
  /** Whether a step of this kind may be repeated when it is not known whether it took effect. */
  canRepeat(kind: string): boolean
  /** The turn of a repetition while the store is in trouble; `undefined` if it is now. */
  turn(): Promise<void> | undefined
  /** Gives on a turn for which there is nothing to repeat any more. */
  pass(): void
  /** Makes a repetition whose turn it is, so that others know what becomes of it. */
  watch<R>(send: () => Awaitable<R>): Awaitable<R>
  readonly timeoutMs: number
  readonly batchMax: number
  /**
   * How many steps may be on their way at a time. More than one only where the order in which steps
   * take effect is no matter; two of one key are never under way together.
   */
  readonly stepsMax: number
}
