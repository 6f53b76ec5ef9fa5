import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the states of keys, in the transitions, in memory and as they are shown, and what finds them. */
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
  {
    name: 'in memory, a claim that has ended can end the next one of its key',
    edits: [
      {
        file: 'packages/memory/src/rows/row-links.ts',
        find: 'this.cells[at] === (token | 0) &&',
        replace: '',
      },
      {
        file: 'packages/memory/src/rows/row-links.ts',
        find: 'this.cells[at | 1] === ((token / tokenUnit) | 0)',
        replace: 'token > 0',
      },
    ],
    finder: {
      file: 'packages/memory/test/memory-driver.test.ts',
      title: 'a claim that has ended says nothing of the next one of its key, nor ends it',
    },
  },
  {
    name: 'in memory, the delay of a retry is counted from a coarse time, so that it ends early',
    edits: [
      {
        file: 'packages/memory/src/direct-verbs.ts',
        find: 'const now = isDelayed ? time.exact() : time.coarse()',
        replace: 'const now = time.coarse()',
      },
    ],
    finder: {
      file: 'packages/memory/test/store-time.test.ts',
      title: 'is counted from the exact time',
    },
  },
  {
    name: 'an add that a full queue refuses is acknowledged, if one of its key was made with it',
    edits: [
      {
        file: 'packages/queue/src/batched/add-batcher.ts',
        find: "outcome === 'parked' || outcome === 'full'",
        replace: "outcome === 'parked'",
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding.test.ts',
      title: 'add: each of the adds made together gets the outcome that it would get alone',
    },
  },
  {
    name: 'a delayed add is lost that is made together with an immediate one',
    edits: [
      {
        file: 'packages/queue/src/batched/add-batcher.ts',
        find: '!isPlain(first) || !isPlain(second)',
        replace: '!isPlain(first)',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding.test.ts',
      title: 'add: delayed adds that are made together with others are promises of their own',
    },
  },
  {
    name: 'very many adds in one call keep the event loop from turning until all are answered',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'this.#atOnce >= atOnceMax',
        replace: 'this.#atOnce === Infinity',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/batches.test.ts',
      title:
        'between many batches that are answered at once the event loop turns, and all keep their order',
    },
  },
  {
    name: 'a loop of awaited adds keeps the event loop from turning, since each is a small batch',
    edits: [
      {
        file: 'packages/queue/src/batched/in-flight-limits.ts',
        find: 'atOnceMin = 50',
        replace: 'atOnceMin = 1',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/batches.test.ts',
      title: 'in a loop of awaited calls that are answered at once the event loop turns',
    },
  },
  {
    name: 'around a queue of another library, a later add puts off a delay that was brought forward',
    edits: [
      {
        file: 'packages/queue/src/foreign/process-delays.ts',
        find: '    waiting.dueAtMs = best\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/delays-around.test.ts',
      title: 'follow the rules of the original',
    },
  },
  {
    name: 'around a queue of another library, a cancelled delay ends the next one of its key',
    edits: [
      {
        file: 'packages/queue/src/foreign/process-delays.ts',
        find: '    this.#waiting.get(key)?.timer.stop()\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/delays-around.test.ts',
      title: 'cancel takes back delayed adds here and pending runs there',
    },
  },
  {
    name: 'a key that is held can be added after a shutdown',
    edits: [
      {
        file: 'packages/queue/src/queue/plain-queue.ts',
        find: 'priority, delayMs: 0 }, false)',
        replace: 'priority, delayMs: 0 }, true)',
      },
    ],
    finder: {
      file: 'tests/test/conformance/queue-conformance.test.ts',
      title: 'q-shut.give-back',
    },
  },
  {
    name: 'in memory, a tick looks at every worker of the last day',
    edits: [
      {
        file: 'packages/memory/src/worker-registry.ts',
        find: 'if (now - seenAt <= workerMsMax) return',
        replace: 'if (now - seenAt <= workerMsMax) continue',
      },
    ],
    finder: {
      file: 'packages/memory/test/sweeps.test.ts',
      title: 'a tick deletes the workers that are gone without a look at those that stay',
    },
  },
  {
    name: 'in memory, a worker that goes on keeps those on record that came after it',
    edits: [
      {
        file: 'packages/memory/src/worker-registry.ts',
        find: 'this.#rows.delete(worker.holder)',
        replace: 'void 0',
      },
    ],
    finder: {
      file: 'packages/memory/test/sweeps.test.ts',
      title: 'a tick deletes the workers that are gone without a look at those that stay',
    },
  },
]
