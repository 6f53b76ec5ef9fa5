import type { FoundByTest } from '../source-mutant.ts'

/** Defects of calls that travel in batches, and of drivers that queues share, and the tests that find them. */
export const foundByTestsOfBatches: readonly FoundByTest[] = [
  {
    name: 'what cannot be read of one key makes another one of its batch lost',
    edits: [
      {
        file: 'packages/queue/src/batched/finish-batcher.ts',
        find: ".catch((error): Failure => ({ outcome: 'failed', error }))",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/unknown-outcomes.test.ts',
      title: 'what is not read at first of one key concerns no other',
    },
  },
  {
    name: 'a close rejects calls that wait behind a batch in flight',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'this.#waits.until([...sent, ...this.#waiting.all()])',
        replace: 'this.#waits.until([...sent])',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/ends.test.ts',
      title: 'that wait behind a batch in flight, one after the other',
    },
  },
  {
    name: 'a close rejects adds that wait until a key is unlocked',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: '...this.#late.jobs(), ...this.#halves.flat()]',
        replace: '...this.#halves.flat()]',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/ends.test.ts',
      title: 'that are sent again',
    },
  },
  {
    name: 'a queue that is closed while it opens the driver closes it for one that has begun since',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: "if (this.#userCount > 0) return\n    if (this.#state === 'closed')",
        replace: "if (this.#state === 'closed')",
      },
    ],
    finder: {
      file: 'packages/queue/test/core/sharing.test.ts',
      title:
        'a queue that begins while another one, which is closed, opens the driver goes on with it',
    },
  },
]
