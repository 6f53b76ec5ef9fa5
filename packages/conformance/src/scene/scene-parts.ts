import assert from 'node:assert/strict'
import type { Ask, Dedupe, Driver, Failure, Finish } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import type { CreateSubject, Subject } from '../case.ts'
import type { CallLog } from '../wrappers/recorded.ts'

/** The parts of an {@link Ask} that a case may leave out. */
export type AskParts = Partial<Omit<Ask, 'key'>>

/** The parts of the verbs' options that a case may leave out. */
export interface OptionParts {
  readonly dedupe?: Dedupe
  readonly failuresExpireMs?: number
  readonly maxPending?: number
}

/** What a case may say about a claim. */
export interface ClaimParts {
  readonly limit?: number
  readonly holder?: string
  readonly claimId?: string
  readonly leaseMs?: number
  readonly dueBy?: number
}

/** What a case may say about the end of leases. */
export interface ExpireParts {
  readonly dedupe?: Dedupe
  readonly maxCrashes?: number
  readonly plan?: Ask['plan']
  readonly jitter?: number
}

/** What a case may say about a retry. */
export type RetryParts = Partial<Omit<Extract<Finish, { as: 'retry' }>, 'as' | 'key' | 'token'>>

/** More claims than a case needs: a store that hands out keys without end fails at this one. */
export const claimsMax = 20_000

/** Everything that scenes of one case have in common. */
export interface Stage {
  readonly create: CreateSubject
  readonly log: CallLog
  readonly clock: FakeClock
  readonly subject: Subject
  /** Opened and not closed yet, over all scenes of the case. */
  readonly opened: Set<Driver>
  readonly disposals: (() => Promise<void>)[]
  readonly hintMs: number
  readonly chance: ChanceOptions
  readonly leaseMs: number
  claimsMade: number
}

/** How a scene is set. */
export interface SceneOptions {
  /** Where every call is written, with its answer. */
  readonly log?: CallLog
  /** A subject that is made already. */
  readonly subject?: Subject
  /** How long a hint that somebody watches for may take, in milliseconds of real time. */
  readonly hintMs?: number
  /** How much is left to chance, and which chance. */
  readonly chance?: ChanceOptions
  /** How long a lease lasts where a case does not care. */
  readonly leaseMs?: number
}

/** How cases that draw their histories by chance go about it, or how one failure is repeated. */
export interface ChanceOptions {
  /** Where chance begins. A failure tells the seed with which it comes again. */
  readonly seed?: number
  /** How many histories are compared with the model. */
  readonly modelRuns?: number
  /** The most steps of one of them. */
  readonly modelSteps?: number
  /** How many concurrent histories are recorded and checked. */
  readonly histories?: number
  /** What a failed comparison with the model said of itself. */
  readonly path?: string
  /** What a failed comparison with the model said of itself. */
  readonly replayPath?: string
}

/** How long a hint may take where nobody says otherwise, in milliseconds of real time. */
export const hintMsUsual = 2_000

/** A long lease where a case does not care. */
export const leaseMsUsual = 30_000

/** After how long failures expire where a case does not care. */
export const dayMs = 86_400_000

/** The answer for one key, which the driver must have been able to give. */
export function unfailed<T extends object>(answer: T | Failure): T {
  if ('error' in answer && 'outcome' in answer && answer.outcome === 'failed') {
    throw new assert.AssertionError({ message: `the driver could not: ${String(answer.error)}` })
  }
  return answer as T
}

/** The only one of a batch of one. */
export function only<T>(values: readonly T[]): T {
  assert.equal(values.length, 1, `one answer for one key, got ${values.length}`)
  return values[0] as T
}
