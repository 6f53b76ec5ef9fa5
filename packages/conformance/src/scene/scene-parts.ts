import assert from 'node:assert/strict'
import type { Ask, Dedupe, Failure, Finish } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import type { CreateSubject, Subject } from '../case.ts'
import type { CallLog } from '../wrappers/recorded.ts'
import type { CaseResources } from './case-resources.ts'

/** The members of an {@link Ask} that a case may omit. */
export type AskParts = Partial<Omit<Ask, 'key'>>

/** The members of the verbs' options that a case may omit. */
export interface OptionParts {
  readonly dedupe?: Dedupe
  readonly failuresExpireMs?: number
  readonly maxPending?: number
}

/** The members of a claim request that a case may set. */
export interface ClaimParts {
  readonly limit?: number
  readonly holder?: string
  readonly claimId?: string
  readonly leaseMs?: number
  readonly dueBy?: number
}

/** The options of `expire` that a case may set. */
export interface ExpireParts {
  readonly dedupe?: Dedupe
  readonly maxCrashes?: number
  readonly plan?: Ask['plan']
  readonly jitter?: number
  readonly error?: string
}

/** The members of a retry that a case may set. */
export type RetryParts = Partial<Omit<Extract<Finish, { as: 'retry' }>, 'as' | 'key' | 'token'>>

/** More claims than a case needs: a store that hands out keys without end fails at this one. */
export const claimsMax = 20_000

/** The state that all scenes of one case share. */
export interface SceneContext {
  readonly create: CreateSubject
  readonly log: CallLog
  readonly clock: FakeClock
  readonly subject: Subject
  readonly resources: CaseResources
  readonly hintMs: number
  readonly chance: ChanceOptions
  readonly leaseMs: number
  readonly onHistory: (() => void) | undefined
  claimsMade: number
}

/** Options of a scene. */
export interface SceneOptions {
  /** The log of all calls with their answers. */
  readonly log?: CallLog | undefined
  /** An existing subject. */
  readonly subject?: Subject | undefined
  /** Where the scene opens its drivers and leaves its store; its own by default. */
  readonly resources?: CaseResources | undefined
  /** How long a wake from another process may take, in milliseconds of real time. Default 5,000. */
  readonly hintMs?: number | undefined
  /** The seed and the number of random histories. */
  readonly chance?: ChanceOptions | undefined
  /** The lease of cases that do not depend on its length; 30 s by default. */
  readonly leaseMs?: number | undefined
  /** Called before each history of a search. */
  readonly onHistory?: (() => void) | undefined
}

/** Options of cases that draw random histories, and of repeating a failure. */
export interface ChanceOptions {
  /** The seed; random by default. A failure prints the seed that reproduces it. */
  readonly seed?: number | undefined
  /** How many histories are compared with the model. Default 60. */
  readonly modelRuns?: number | undefined
  /** The maximum number of steps of one history. Default 60; in `model.alike.large`, 20. */
  readonly modelSteps?: number | undefined
  /** How many concurrent histories are recorded and checked. Default 8. */
  readonly histories?: number | undefined
  /** The path that a failed comparison with the model printed. */
  readonly path?: string | undefined
  /** The replay path that a failed comparison with the model printed. */
  readonly replayPath?: string | undefined
}

/**
 * How long a wake from another process may take by default, in milliseconds of real time: it only ends
 * what hangs, also on a machine that is held up.
 */
export const hintMsUsual = 5_000

/** The lease of cases that do not depend on its length, in milliseconds. */
export const leaseMsUsual = 30_000

/** When failures expire in cases that do not depend on it, in milliseconds. */
export const dayMs = 86_400_000

/** The answer for one key; throws if it is a failure. */
export function succeeded<T extends object>(answer: T | Failure): T {
  if ('error' in answer && 'outcome' in answer && answer.outcome === 'failed') {
    throw new assert.AssertionError({ message: `the driver failed: ${String(answer.error)}` })
  }
  return answer as T
}

/** The outcome for one key; throws what it failed with. */
export function outcomeOf<T extends string>(outcome: T | Failure): T {
  if (typeof outcome === 'object') throw outcome.error
  return outcome
}

/** The answer to a batch of one. */
export function only<T>(values: readonly T[]): T {
  assert.equal(values.length, 1, `one answer for one key, got ${values.length}`)
  return values[0] as T
}
