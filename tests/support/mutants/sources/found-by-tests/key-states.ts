import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the states of keys, in the transitions and in memory, and the cases that find them. */
export const foundByTestsOfKeyStates: readonly FoundByTest[] = [
  {
    name: 'in memory, a claim of what was due by an instant takes keys that were put back in any order',
    edits: [
      {
        file: 'packages/memory/src/rows/ready-by-priority.ts',
        find: 'due.reduce((a, b) => (isBefore(a, b) ? a : b))',
        replace: 'due[0]!',
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'delay.due-by',
    },
  },
  {
    name: 'in memory, a dirty key counts twice towards maxPending once its run has ended',
    edits: [
      {
        file: 'packages/memory/src/direct-verbs.ts',
        find: 'if (!wasPending && dueAt !== never) this.pending += 1',
        replace: 'if (dueAt !== never) this.pending += 1',
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'add.max-pending.counted',
    },
  },
  {
    name: 'in memory, a cancelled key counts towards maxPending for good',
    edits: [
      {
        file: 'packages/memory/src/memory-queue.ts',
        find: 'this.pending += isPending ? 1 : -1',
        replace: 'this.pending += isPending ? 1 : 0',
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'add.max-pending.delayed',
    },
  },
  {
    name: 'a failed add of a known key is a plain delay',
    edits: [
      {
        file: 'packages/core/src/transitions/add.ts',
        find: "const why = request.failed === true ? 'backoff' : 'delay'",
        replace: "const why = 'delay'",
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'retry.state.backoff',
    },
  },
  {
    name: 'a delayed key whose priority rises is ordered by when it rose',
    edits: [
      {
        file: 'packages/core/src/transitions/pending.ts',
        find: 'if (state.token === noToken && state.dueAt <= now) state.readyAt = now',
        replace: 'state.readyAt = now',
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'priority.delayed.rise',
    },
  },
]
