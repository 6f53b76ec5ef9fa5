import type { FoundByTest } from '../source-mutant.ts'

/** Defects of what the driver on Redis says of calls that fail or are not answered, and the tests that find them. */
export const foundByTestsOfRedisAnswers: readonly FoundByTest[] = [
  {
    name: 'on Redis, a write that was not answered counts as not made',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'onlyReads(text) ? reading(send) : send()',
        replace: 'reading(send)',
      },
    ],
    finder: {
      file: 'packages/redis/test/lost-answers.test.ts',
      title: 'leaves the outcome of a write unknown',
    },
  },
  {
    name: 'on Redis, an add that was made is reported as not made where the name of its queue cannot be written',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'this.#register(queue).catch(() => {})',
        replace: 'this.#register(queue)',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'an add that has created its queue is made, also where the name cannot be written',
    },
  },
]
