/**
 * The test suite that every driver passes. Begin with `examine` of `@sluice/conformance/vitest` or
 * `@sluice/conformance/node-test`, or with the command `sluice-conformance`; all of them run `allCases` on
 * a `Subject`, a driver on its own store. `queueCases` runs the second half, through a queue. The parts
 * can be used separately: `ModelDriver` is the reference driver, `faulty` injects faults, `runHistory` and
 * `checkHistory` record concurrent clients and check what they saw.
 *
 * @packageDocumentation
 */

export {
  type Case,
  type CreateSubject,
  missingHook,
  missingNeed,
  type Needs,
  type OtherProcess,
  type Subject,
  type SubjectTransaction,
} from './case.ts'
export { allCases } from './cases/all.ts'
export { Chance } from './histories/chance.ts'
export {
  checkHistory,
  fallingTokens,
  inventedWork,
  lostWork,
  overlappingWork,
} from './histories/checks.ts'
export { keyMachine } from './histories/key-machine.ts'
export {
  type Call,
  type Contradiction,
  contradiction,
  type Sequential,
} from './histories/linearizable.ts'
export { type Action, describeOperation, History, type Operation } from './histories/operation.ts'
export { type HistoryOptions, runHistory } from './histories/run-history.ts'
export { Sometimes, type SometimesEvent } from './histories/sometimes.ts'
export { memoryWitness, type Witness } from './histories/witness.ts'
export { ModelDriver, type ModelOptions } from './model/model-driver.ts'
export { ModelStore } from './model/model-store.ts'
export { altered, type ModelSubjectOptions, modelSubject } from './model/model-subject.ts'
export { modelRules, type Rules } from './model/rules.ts'
export { allQueueCases, queueCases } from './queue-cases/all.ts'
export type {
  PublicContext,
  PublicDelayingQueue,
  PublicHeld,
  PublicLimiter,
  PublicOptions,
  PublicQueue,
  PublicRateLimitingQueue,
  PublicWithin,
  PublicWorker,
  QueueFactories,
} from './queue-cases/public-api.ts'
export type { QueueCase } from './queue-cases/queue-case.ts'
export type { QueueScene } from './queue-cases/queue-scene.ts'
export {
  declaredReport,
  type Report,
  renderMarkdown,
  type Tally,
  tally,
} from './report.ts'
export {
  type CaseResult,
  checkExceptions,
  failureText,
  missingVerbs,
  type RunOptions,
  runCase,
  runCases,
  type Verdict,
} from './run-cases.ts'
export { Scene } from './scene/scene.ts'
export type {
  AskParts,
  ChanceOptions,
  ClaimParts,
  ExpireParts,
  OptionParts,
  RetryParts,
  SceneOptions,
} from './scene/scene-parts.ts'
export { type FaultOptions, type Faults, faulty } from './wrappers/faulty.ts'
export { CallLog, recorded } from './wrappers/recorded.ts'
export { throughDirect } from './wrappers/through-direct.ts'
