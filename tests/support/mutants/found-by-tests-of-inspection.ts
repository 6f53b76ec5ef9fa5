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
  {
    name: 'explain does not see that a delayed run is due before the lease of its key ends',
    edits: [
      {
        file: 'packages/queue/src/inspect/explain.ts',
        find: 'dueAt <= Math.max(leaseUntil, now)',
        replace: 'dueAt <= now',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'foresees what the end of a lease does to a key with a delayed run',
    },
  },
]
