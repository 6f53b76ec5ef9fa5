import type { FoundByTest } from '../source-mutant.ts'

/** Defects of token buckets, and the tests that find them. */
export const foundByTestsOfBuckets: readonly FoundByTest[] = [
  {
    name: 'a bucket that the store cannot share is refused by a queue, and not where one is given a limiter later',
    edits: [
      {
        file: 'packages/queue/src/queue/rate-limiting-queue.ts',
        find: 'if (given !== undefined) checkLimiterOf(',
        replace: 'if (given === null) checkLimiterOf(',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/bad-options.test.ts',
      title: 'a bucket with a name is refused where queues share none',
    },
  },
  {
    name: 'the own bucket of a queue is refused where queues share none',
    edits: [
      {
        file: 'packages/queue/src/queue/options.ts',
        find: "name === '' || name === ",
        replace: "name === '' && name === ",
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/bad-options.test.ts',
      title: 'a bucket with a name is refused where queues share none',
    },
  },
]
