import type { FoundByTest } from '../source-mutant.ts'

const listener = 'packages/postgres/src/notices/listener.ts'
const watch = 'packages/postgres/src/notices/watch.ts'
const finders = 'packages/postgres/test/connection/listener.test.ts'

/** Defects of how the driver on Postgres listens to notices, wakes workers and reports outcomes, and the tests that find them. */
export const foundByTestsOfPostgresNotices: readonly FoundByTest[] = [
  {
    name: 'a stop to listen on Postgres waits for a server that does not answer the proof of notices',
    edits: [
      {
        file: listener,
        find: ', this.#wait(Infinity)])',
        replace: '])',
      },
    ],
    finder: {
      file: finders,
      title: 'a stop does not wait for a server that does not answer the proof',
    },
  },
  {
    name: 'watchers are not polled while the connection that listened is being replaced',
    edits: [
      {
        file: listener,
        find: '      this.#isProven = false\n      onTried()',
        replace: '      onTried()',
      },
    ],
    finder: {
      file: finders,
      title: 'watchers are polled while no connection listens, and only then',
    },
  },
  {
    name: 'watchers are polled while notices arrive',
    edits: [
      {
        file: watch,
        find: 'if (this.isProven) polledAt = clock.monotonicMs()\n      else if',
        replace: 'if',
      },
    ],
    finder: {
      file: finders,
      title: 'watchers are polled while no connection listens, and only then',
    },
  },
  {
    name: 'a connection that listened well is replaced later each time that it ends',
    edits: [
      {
        file: listener,
        find: '          failures = 0\n',
        replace: '',
      },
    ],
    finder: {
      file: finders,
      title: 'however often connections end that notices came over',
    },
  },
  {
    name: 'on Postgres, a watcher that is stopped twice counts for two',
    edits: [
      {
        file: watch,
        find: 'isWatching = false',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/conformance/conformance.test.ts',
      title: 'watch.several.peers',
    },
  },
  {
    name: 'on Postgres, a finish whose answer is lost wakes no worker',
    edits: [
      {
        file: 'packages/postgres/src/postgres-driver.ts',
        find: 'await wakeSignal.wakeIfUnknown(queue, finish(store, queue, finishes, options))',
        replace: 'await finish(store, queue, finishes, options)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'a finish whose answer is lost wakes workers, since it may have made a key ready',
    },
  },
  {
    name: 'on Postgres, keys that were finished are reported as failed where the transaction for others fails',
    edits: [
      {
        file: 'packages/postgres/src/verbs/finish.ts',
        find: "const later = await finishInTransaction(left).catch((error) =>\n    left.map((): Failure => ({ outcome: 'failed', error })),\n  )",
        replace: 'const later = await finishInTransaction(left)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/finishes-left.test.ts',
      title:
        'what one statement has finished stays finished, though the transaction for the others fails',
    },
  },
  {
    name: 'on Postgres, a key that was finished by a transaction gets the reply of another',
    edits: [
      {
        file: 'packages/postgres/src/verbs/finish.ts',
        find: 'return later[next - 1] as',
        replace: 'return later[0] as',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/finishes-left.test.ts',
      title: 'each key that one statement left gets its own reply',
    },
  },
  {
    name: 'on Postgres, an end of leases whose answer is lost wakes no worker',
    edits: [
      {
        file: 'packages/postgres/src/postgres-driver.ts',
        find: 'await wakeSignal.wakeIfUnknown(queue, expire(store, queue, leases, options))',
        replace: 'await expire(store, queue, leases, options)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'an end of a lease wakes workers, since it may have made a key ready',
    },
  },
  {
    name: 'on Postgres, a key of a lease that has ended wakes no worker',
    edits: [
      {
        file: 'packages/postgres/src/postgres-driver.ts',
        find: "if (outcomes.includes('expired')) wakeSignal.wake(queue)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'an end of a lease wakes workers, since it may have made a key ready',
    },
  },
]
