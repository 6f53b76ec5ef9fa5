export {
  type Case,
  type CreateSubject,
  missingNeed,
  type Needs,
  type Subject,
  type SubjectTransaction,
} from './case.ts'
export { allCases } from './cases/all.ts'
export { ModelDriver, type ModelOptions } from './model/model-driver.ts'
export { ModelStore } from './model/model-store.ts'
export { modelSubject } from './model/model-subject.ts'
export { modelRules, type Rules } from './model/rules.ts'
export { CallLog, recorded } from './recorded.ts'
export {
  type CaseResult,
  checkExceptions,
  failureText,
  missingVerbs,
  type RunOptions,
  requiredVerbs,
  runCase,
  runCases,
  type Verdict,
} from './run-cases.ts'
export {
  type AskParts,
  type ChanceOptions,
  type ClaimParts,
  type ExpireParts,
  type OptionParts,
  Scene,
  type SceneOptions,
} from './scene.ts'
