import type { FoundByTest } from './source-mutant.ts'

/** Defects of the command line, the dashboard and the metrics, and the tests that find them. */
export const foundByTestsOfOperators: readonly FoundByTest[] = [
  {
    name: 'doctor fails on a store that it cannot examine',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/doctor.ts',
        find: 'if (!SluiceError.is(error)) throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/cli/test/moving.test.ts',
      title: 'shows why a store cannot be examined',
    },
  },
]
