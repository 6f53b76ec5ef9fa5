import type { FoundByTest } from '../source-mutant.ts'

/** Defects of clocks and timers, and the tests that find them. */
export const foundByTestsOfClocks: readonly FoundByTest[] = [
  {
    name: 'a timer of more than 24 days wakes the process every millisecond',
    edits: [
      {
        file: 'packages/core/src/time/system-clock.ts',
        find: 'Math.min(Math.ceil(ms), timerMsMax)',
        replace: 'Math.ceil(ms)',
      },
    ],
    finder: {
      file: 'packages/core/test/system-clock.test.ts',
      title: 'beyond what the runtime holds do not fire at once, nor wake the process',
    },
  },
]
