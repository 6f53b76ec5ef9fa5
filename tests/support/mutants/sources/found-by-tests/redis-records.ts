import type { FoundByTest } from '../source-mutant.ts'

/** Defects of what the driver on Redis remembers, of writes, queues and channels, and the tests that find them. */
export const foundByTestsOfRedisRecords: readonly FoundByTest[] = [
  {
    name: 'on Redis, an add that the next primary of a slot has answered is repeated on the one that it moves from',
    edits: [
      {
        file: 'packages/redis/src/journal-keeper.ts',
        find: 'tabled: other && known,',
        replace: 'tabled: undefined,',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'an add that the next primary of a slot has answered is not repeated',
    },
  },
  {
    name: 'on Redis, the outcome of a write that could not be undone is that of the undo',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: '(await undo?.(reply).catch(() => undefined)) ?? error',
        replace: '(await undo?.(reply)) ?? error',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'the outcome of a write that replicas have not confirmed stays unknown',
    },
  },
  {
    name: 'on Redis, no queue of a cluster notices a failover where the run id may not be read',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'runId || unknown',
        replace: 'runId',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'where the run id may not be read, a node of a cluster says its own name',
    },
  },
  {
    name: 'on Redis, a queue counts as unused a day after a process has first used it',
    edits: [
      {
        file: 'packages/redis/src/store.ts',
        find: 'at - known.at < registeredMs',
        replace: 'at >= known.at',
      },
    ],
    finder: {
      file: 'packages/redis/test/unconfirmed-writes.test.ts',
      title: 'a queue that is in use writes its name again after an hour',
    },
  },
  {
    name: 'on Redis, the later of two delays is repeated after a failover',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: '} else if (isSecond && !keepsSecond) {',
        replace: '} else if (isSecond) {',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'a delayed run that was asked for before an add is repeated as the second',
    },
  },
  {
    name: 'on Redis, a pending run has the priority of its last add after a failover',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: 'Math.max(asked, merged?.priority ?? asked)',
        replace: 'asked',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'a run that is pending keeps its priority and the time of its first add',
    },
  },
  {
    name: 'on Redis, a delayed run that is added at once loses its priority in a failover',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: ' && !isSecond && !isDelayed',
        replace: ' && !isSecond',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'a run that is delayed keeps them too when it is added at once',
    },
  },
  {
    name: 'on Redis, a failover loses an add after a finish that came too late',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: "if (reply === undefined || reply.outcome === 'lost') continue",
        replace: 'if (reply === undefined) continue',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'what is still pending after a finish is repeated',
    },
  },
  {
    name: 'on Redis, a failover loses the item of an add that was merged',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: 'if (item === before.item && primary',
        replace: 'if (primary',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'the item and the trace of the last add are repeated',
    },
  },
  {
    name: 'on Redis, a failover loses the retries of keys that were not cancelled',
    edits: [
      {
        file: 'packages/redis/src/journal.ts',
        find: 'kept.lastSeq > lastSeq || discarded?.has(key) === false',
        replace: 'kept.lastSeq > lastSeq',
      },
    ],
    finder: {
      file: 'packages/redis/test/journal.test.ts',
      title: 'a finish of another key than those that are cancelled is repeated as it was',
    },
  },
  {
    name: 'on Redis, a subscription that fails late takes that of the next watch along',
    edits: [
      {
        file: 'packages/redis/src/watch.ts',
        find: 'if (this.#subscriptions.get(channel) === subscription) this.#subscriptions',
        replace: 'this.#subscriptions',
      },
    ],
    finder: {
      file: 'packages/redis/test/watch.test.ts',
      title: 'a subscription that fails after its watch has ended leaves that of the next watch',
    },
  },
  {
    name: 'on Redis, no claim subscribes where the watch could not',
    edits: [
      {
        file: 'packages/redis/src/watch.ts',
        find: 'if (this.#subscriptions.get(channel) === subscription) this.#subscriptions.delete(channel)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/watch.test.ts',
      title: 'the next claim subscribes where the watch could not',
    },
  },
  {
    name: 'on Redis, a gap in the messages wakes no worker',
    edits: [
      {
        file: 'packages/redis/src/watch.ts',
        find: 'if (!isFirst) this.wake(undefined)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/watch.test.ts',
      title: 'messages of other processes wake a worker, and so does a gap in them',
    },
  },
]
