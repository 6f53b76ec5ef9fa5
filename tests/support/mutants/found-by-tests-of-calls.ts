import type { FoundByTest } from './source-mutant.ts'

/** Defects of single calls of a queue, and the tests that find them. */
export const foundByTestsOfCalls: readonly FoundByTest[] = [
  {
    name: 'a Node that is too old makes a queue',
    edits: [
      {
        file: 'packages/queue/src/environment/parts.ts',
        find: "if ('transfer' in ArrayBuffer.prototype) return",
        replace: 'return',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/bad-options.test.ts',
      title: 'a runtime that is too old is refused, with the version that is needed',
    },
  },
  {
    name: 'doneMany around a queue that has none rejects before all keys are answered',
    edits: [
      {
        file: 'packages/queue/src/core/resolved.ts',
        find: 'return Promise.allSettled(calls).then(() => Promise.all(calls))',
        replace: 'return Promise.all(calls)',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/wrapping.test.ts',
      title: 'rejects once all keys are answered, with',
    },
  },
  {
    name: 'a wait for a key that is delayed around a foreign queue keeps the process alive with ref: false',
    edits: [
      {
        file: 'packages/queue/src/foreign/process-delays.ts',
        find: 'if (this.#options.ref && this.#callers > 0',
        replace: 'if (this.#callers > 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/living.test.ts',
      title: 'is done by every wait, unless ref is false, and by nothing else',
    },
  },
]
