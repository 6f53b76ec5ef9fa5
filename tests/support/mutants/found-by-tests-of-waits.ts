import type { FoundByTest } from './source-mutant.ts'

/** Defects of calls that wait for keys, and the tests that find them. */
export const foundByTestsOfWaits: readonly FoundByTest[] = [
  {
    name: 'an aborted get waits for the check of an item',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'if (!this.waiters.remove(waiter) && this.inspection === undefined) return',
        replace: 'if (!this.waiters.remove(waiter)) return',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'an aborted get gives back a key that was still being checked',
    },
  },
]
