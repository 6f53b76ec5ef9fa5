/**
 * `@sluice/core/words`: the one form in which durations, counts, rates and shares are shown, by the
 * dashboard, the command line and `explain`. Pure functions without dependencies.
 *
 * @packageDocumentation
 */
export { durationWords } from './duration-words.ts'
export { atLeastWords, countWords, manyWords, percentWords, rateWords } from './number-words.ts'
