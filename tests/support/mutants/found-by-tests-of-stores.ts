import type { FoundByTest } from './source-mutant.ts'

/** Defects of memory, and of what else the queue stands on, and the tests that find them. */
export const foundByTestsOfStores: readonly FoundByTest[] = [
  {
    name: 'crashes outlast a run that ended well',
    edits: [
      {
        file: 'packages/core/src/transitions/finish.ts',
        find: 'state.crashes = 0\n  if (state.laterAt !== never) collapse',
        replace: 'if (state.laterAt !== never) collapse',
      },
    ],
    finder: {
      file: 'packages/core/test/transition-table.test.ts',
      title: 'a run that has ended leaves no crashes',
    },
  },
  {
    name: 'a timer fires half a millisecond early',
    edits: [
      {
        file: 'packages/core/src/time/system-clock.ts',
        find: 'if (leftMs > 0) {',
        replace: 'if (leftMs > 0.5) {',
      },
    ],
    finder: {
      file: 'packages/core/test/system-clock.test.ts',
      title: 'do not fire while a fraction of a millisecond is left',
    },
  },
  {
    name: 'metrics keep every deadline that a delayed key ever had',
    edits: [
      {
        file: 'packages/metrics/src/queue/due-heap.ts',
        find: 'this.#settle(this.#positions.get(entry.key) ?? this.#entries.length, entry)',
        replace: 'this.#settle(this.#entries.length, entry)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'a key that is delayed a million times over is remembered once',
    },
  },
  {
    name: 'metrics count a raised priority as an add',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: ": dedupe !== 'earliest' || mark?.dueAt === dueAt || dueAt < now - dueBeforeMs",
        replace: ": dedupe !== 'earliest'",
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'is no add, and its wait goes on',
    },
  },
  {
    name: 'metrics count in later what was only raised',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (dedupe === 'client-go' && !isPromised)",
        replace: 'if (!isPromised)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'raises its priority, and promises nothing for later',
    },
  },
  {
    name: 'a tick forgets workers when failures expire',
    edits: [
      {
        file: 'packages/memory/src/memory-driver.ts',
        find: 'target.workers.deleteGone(now)',
        replace: 'target.workers.deleteGone(now + 86_400_000 - failuresExpireMs)',
      },
    ],
    finder: {
      file: 'packages/memory/test/memory-driver.test.ts',
      title: 'workers that were not seen for a day are deleted',
    },
  },
  {
    name: 'names of queues that were used once are kept',
    edits: [
      {
        file: 'packages/memory/src/memory-driver.ts',
        find: 'if (this.#queues.size >= this.#namesMax) this.#dropUnused()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/memory/test/heap.test.ts',
      title: 'names of queues that were used once leave nothing behind',
    },
  },
  {
    name: 'wrong tokens of others keep the owner out',
    edits: [
      {
        file: 'packages/dashboard/src/access/visitors.ts',
        find: 'if (!isSame(token, auth.token)) {\n      if (this.#wrong.allow()) {',
        replace:
          'const isAllowed = this.#wrong.allow()\n    if (!isAllowed || !isSame(token, auth.token)) {\n      if (isAllowed) {',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/sign-in.test.ts',
      title: 'is not kept from the owner by the wrong tokens of others',
    },
  },
  {
    name: 'priority 0 takes one of the 25 labels',
    edits: [
      {
        file: 'packages/metrics/src/queue/priority-labels.ts',
        find: 'new Set<number>()',
        replace: 'new Set<number>([0])',
      },
    ],
    finder: {
      file: 'packages/metrics/test/prometheus.test.ts',
      title: '25 priorities keep their labels, whether or not 0 is among them',
    },
  },
  {
    name: 'metrics of closed queues stay',
    edits: [
      {
        file: 'packages/metrics/src/recorder/recorder.ts',
        find: 'provider.forgetQueue?.(name)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/metrics/test/closed-queues.test.ts',
      title: 'a queue that was closed is exported once more with its last values',
    },
  },
  {
    name: 'a held key of memory gets the name of a later holder of another key',
    edits: [
      {
        file: 'packages/memory/src/direct-verbs.ts',
        find: 'if (this.heldCount === 0) this.states.usualHolder = holder',
        replace: 'this.states.usualHolder = holder',
      },
    ],
    finder: {
      file: 'packages/memory/test/memory-driver.test.ts',
      title: 'names the holders of keys that are held at the same time without a lease',
    },
  },
  {
    name: 'a move onto the same store deletes its keys',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: "if ((await moveMarkOf(to, queue))['moveId'] === moveId) {",
        replace: 'if (false) {',
      },
    ],
    finder: {
      file: 'tests/test/move-queues.test.ts',
      title: 'a target that is the source by another address is refused, and nothing is changed',
    },
  },
  {
    name: 'a move ends before its target is closed',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'await to.leave()',
        replace: 'void to.leave()',
      },
    ],
    finder: {
      file: 'tests/test/move-queues.test.ts',
      title: 'a source that cannot be closed does not keep the target open',
    },
  },
  {
    name: 'an imported key is ready by the clock of the store it came from',
    edits: [
      {
        file: 'packages/core/src/transitions/merge-row.ts',
        find: 'Math.min(row.readyAt, Math.max(row.dueAt, now))',
        replace: 'row.readyAt',
      },
    ],
    finder: {
      file: 'packages/core/test/transfer.test.ts',
      title: 'ready no later than now',
    },
  },
  {
    name: 'an imported bucket is listed with the rate of a plan',
    edits: [
      {
        file: 'packages/core/src/driver/token-buckets.ts',
        find: 'entry.rate = rate\n    entry.state = { tokens, lastMs: at }',
        replace: 'entry.state = { tokens, lastMs: at }',
      },
    ],
    finder: {
      file: 'packages/core/test/token-buckets.test.ts',
      title: 'a bucket that was put in has its own rate',
    },
  },
]
