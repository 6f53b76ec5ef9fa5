import type { FoundByTest } from './source-mutant.ts'

/** Defects of the inspection, and the tests that find them. */
export const foundByTestsOfInspection: readonly FoundByTest[] = [
  {
    name: 'a key without a pending run shows the priority of an earlier one',
    edits: [
      {
        file: 'packages/queue/src/inspect/key-info.ts',
        find: 'isHeld ? row.claimedPriority : priorityDefault',
        replace: 'isHeld ? row.claimedPriority : row.priority',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'a key without a pending run has no priority left of earlier runs',
    },
  },
]
