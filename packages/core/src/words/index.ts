/**
 * `@sluice/core/words`: the words for states, and the one form in which durations, counts, rates, shares,
 * limiters and the conditions of `explain` are shown, by the dashboard and the command line. Pure functions
 * without dependencies.
 *
 * @packageDocumentation
 */
export { keyStateWords } from '../driver/outcomes.ts'
export {
  type ConditionCode,
  type ConditionWords,
  conditionStatements,
  conditionWords,
} from './condition-words.ts'
export { durationWords, type KnownSince, sinceWords } from './duration-words.ts'
export { atLeastWords, countWords, manyWords, percentWords, rateWords } from './number-words.ts'
export { planWords } from './plan-words.ts'
export { quantile } from './quantile.ts'
