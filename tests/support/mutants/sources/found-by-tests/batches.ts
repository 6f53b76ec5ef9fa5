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
  {
    name: 'a store that refuses to be watched is asked again after each quiet period',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: ' || this.#isWatchRefused) return',
        replace: ') return',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/quieting.test.ts',
      title: 'a store that refuses to be watched is asked once, until it is opened again',
    },
  },
  {
    name: 'a store that has refused to be watched is not asked once it is opened again',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: '    this.#isWatchRefused = false\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/quieting.test.ts',
      title: 'a store that refuses to be watched is asked once, until it is opened again',
    },
  },
  {
    name: 'an addSoon that throws for a key keeps informers from adding any other',
    edits: [
      {
        file: 'packages/kubernetes/src/key-adder.ts',
        find: '// Ours never throws. One around it may, for a key: the others are added.\n        this.#report(error)',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/key-adder.test.ts',
      title: 'and whose addSoon throws for a key, is given the others',
    },
  },
  {
    name: 'a close does not wait for the answers to keys that were given back meanwhile',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'answered.then(() => core.backend.idle())',
        replace: 'answered',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/closing.test.ts',
      title:
        'a key that is given back in the last second is answered, also if the store takes longer',
    },
  },
  {
    name: 'a watch of a store that begins late goes on, though nothing needs it any more',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: '        await end?.()\n        return',
        replace: '        return',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/quieting.test.ts',
      title: 'a watch that has begun when nothing needs it any more is ended',
    },
  },
  {
    name: 'as many keys with long items are claimed ahead as arrive after their leases have ended',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'Math.min(autoMax, arriving, ',
        replace: 'Math.min(autoMax, ',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-amount.test.ts',
      title:
        'claims ahead what arrives in time, by the claim of the latest 32 that brought its keys fastest',
    },
  },
  {
    name: 'a claim of long items over a slow network asks for as many keys as before, whose leases end on the way',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'Math.min(this.#prefetching.claimMax, ',
        replace: 'Math.min(1_000, ',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/claim-size.test.ts',
      title: 'keys whose claim took most of their leases are claimed again a few at a time',
    },
  },
  {
    name: 'an export lists a thousand keys at once, however long their items are',
    edits: [
      {
        file: 'packages/queue/src/transfer/export-queue.ts',
        find: '    size.fit(page.rows)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/page-size.test.ts',
      title: 'an export and a selection list long items a few at a time',
    },
  },
  {
    name: 'pages of long items are as large as those of short ones',
    edits: [
      {
        file: 'packages/queue/src/inspect/page-size.ts',
        find: 'growth * this.keys, wanted)',
        replace: 'growth * this.keys)',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/page-size.test.ts',
      title: 'pages of long items have about a megabyte',
    },
  },
  {
    name: 'an import sends a thousand keys at once, however long their items are',
    edits: [
      {
        file: 'packages/queue/src/transfer/transfer-batches.ts',
        find: 'batchBytes = callChars',
        replace: 'batchBytes = Infinity',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/transfer-batches.test.ts',
      title: 'one call transfers a megabyte of long items, to a store that sets no limit',
    },
  },
]
