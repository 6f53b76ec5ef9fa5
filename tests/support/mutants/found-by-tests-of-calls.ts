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
      title: 'rejects once all keys are answered, with delays around it',
    },
  },
]
