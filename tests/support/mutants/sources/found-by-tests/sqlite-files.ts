import type { FoundByTest } from '../source-mutant.ts'

/** Defects around the file of a SQLite store, and the tests that find them. */
export const foundByTestsOfSqliteFiles: readonly FoundByTest[] = [
  {
    name: 'a transaction of the caller wakes the watchers of SQLite for ever after',
    edits: [
      {
        file: 'packages/sqlite/src/connection/wake-signal.ts',
        find: 'if (isOver) this.#isPending = undefined',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/wake-signal.test.ts',
      title: 'is called once after a transaction of the caller',
    },
  },
  {
    name: 'a purge of SQLite removes keys that are added meanwhile',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/operate.ts',
        find: 'begun ?? tx.drawSeqs(1)',
        replace: 'tx.drawSeqs(1)',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/counters.test.ts',
      title: 'leaves what is added meanwhile, of names in',
    },
  },
  {
    name: 'opening a file of SQLite removes the draft of a process that is at work',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: 'const draftMsMax = 60_000',
        replace: 'const draftMsMax = -Infinity',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/drafts.test.ts',
      title: 'the draft of a process that may be at work stays, and so does every other file',
    },
  },
  {
    name: 'a file of SQLite is used on after a newer version has migrated it',
    edits: [
      {
        file: 'packages/sqlite/src/rows/store-row.ts',
        find: 'row.breaking > schemaVersion',
        replace: 'row.breaking < 0',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/newer-schema.test.ts',
      title: 'a transaction of the caller is refused as well',
    },
  },
  {
    name: 'a file of SQLite is used on after it was emptied',
    edits: [
      {
        file: 'packages/sqlite/src/connection/database-source.ts',
        find: 'status?.size && status.ino',
        replace: 'status?.ino',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/damage.test.ts',
      title: 'is ERR_STORE_DAMAGED within a second after the file was emptied',
    },
  },
  {
    name: 'a log of SQLite is used on after it was emptied',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'if (start[0] !== 0) return false',
        replace: 'return false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/damage.test.ts',
      title: 'is ERR_STORE_DAMAGED within a second after the log was emptied, and goes no further',
    },
  },
  {
    name: 'the gap in a log of SQLite that was emptied is copied into the file',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: '        ftruncateSync(handle)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/damage.test.ts',
      title: 'is ERR_STORE_DAMAGED within a second after the log was emptied, and goes no further',
    },
  },
  {
    name: 'a file of SQLite that has lost its locks gets others while it is in use',
    edits: [
      {
        file: 'packages/sqlite/src/connection/database-source.ts',
        find: 'size !== undefined && size > 0',
        replace: 'size !== undefined && size < 0',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/faults.test.ts',
      title: 'without its file of locks, a file is opened only when no connection uses it',
    },
  },
  ...(
    [
      ['another log is made', 'after === before && size === undefined', 'false'],
      ['what the removed log has is lost', '-wal`)) database', '-shm`)) database'],
      ['connections that only read do not notice', '-wal`)?.ino}', '-shm`)?.ino}'],
    ] as const
  ).map(
    ([what, find, replace]): FoundByTest => ({
      name: `a log of SQLite is removed while it is in use: ${what}`,
      edits: [{ file: 'packages/sqlite/src/connection/database-source.ts', find, replace }],
      finder: {
        file: 'packages/sqlite/test/log-guard.test.ts',
        title:
          'a log that was removed loses nothing, and no other is made while a connection uses it',
      },
    }),
  ),
  {
    name: 'a connection that is closed is taken',
    edits: [
      {
        file: 'packages/sqlite/src/library/library.ts',
        find: 'if (isClosed(database as SqliteDatabase)) {',
        replace: 'if (false) {',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/refusals.test.ts',
      title: 'a connection that is closed is refused as an argument',
    },
  },
  {
    name: 'a file of SQLite that another process creates and opens meanwhile is called damaged',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: '-wal`) && !statusOf(path)) {',
        replace: '-wal`)) {',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/refusals.test.ts',
      title: 'not that another process creates and opens between two looks',
    },
  },
  {
    name: 'the marks of a file of SQLite are read after its version',
    edits: [
      {
        file: 'packages/sqlite/src/schema/migrate.ts',
        find: 'if (userVersion > version)',
        replace: "if ((singleValue(database, 'pragma user_version') as number) > version)",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/refusals.test.ts',
      title: 'not whose schema another process makes newer and harmless while it is opened',
    },
  },
  {
    name: 'without hard links, the file of one process replaces that of another',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: "    database.exec('begin exclusive')\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/open-and-close.test.ts',
      title: 'without hard links, the file of one process does not replace that of another',
    },
  },
  {
    name: 'a full disk stops SQLite although its log has room',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'return row.log === row.checkpointed',
        replace: 'return row.log < row.checkpointed',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/real-faults.test.ts',
      title: 'that has no room for a longer log: the log is used again',
    },
  },
  {
    name: 'the file system of a directory is asked for before the file is missed',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: 'if (!before && wish.mustExist) throw',
        replace: 'if (!before && wish.mustExist && !wish.networkOf(dirname(path))) throw',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/open-and-close.test.ts',
      title: 'a directory that was moved while in use is waited for, as a file is',
    },
  },
  {
    name: 'an error of a file of SQLite keeps what the system said to itself',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: 'reason === undefined ? message',
        replace: 'true ? message',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/drafts.test.ts',
      title: 'what the system says is in the message, since a log has no more of the error',
    },
  },
  {
    name: 'a process ends while its write waits for a lock of a SQLite file',
    edits: [
      {
        file: 'packages/sqlite/src/connection/busy-retry.ts',
        find: 'this.#timer.ref()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/lock-waits.test.ts',
      title: 'a process does not end while its write waits',
    },
  },
  {
    name: 'a write overtakes one that waits for a lock of a SQLite file',
    edits: [
      {
        file: 'packages/sqlite/src/connection/busy-retry.ts',
        find: 'this.#line.length > 0 && !overtakes',
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/lock-waits.test.ts',
      title: 'a write does not overtake one that waits',
    },
  },
  {
    name: 'another file is made in place of a database that was removed after it was handed in to SQLite',
    edits: [
      {
        file: 'packages/sqlite/src/connection/target.ts',
        find: 'mustExist: true',
        replace: 'mustExist: false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/transact.test.ts',
      title: 'that was removed, no other file is made',
    },
  },
  {
    name: 'SQLite does not count what is added in a transaction of the caller',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/transact.ts',
        find: 'tx.end()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/counters.test.ts',
      title: 'is kept in transactions of the caller',
    },
  },
  {
    name: 'other processes do not notice what a transaction of the caller has changed in SQLite',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/transact.ts',
        find: 'store.save()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/wake-signal.test.ts',
      title: 'is called when a transaction of the caller has made',
    },
  },
  {
    name: 'tables that cannot be created in SQLite leave a transaction open',
    edits: [
      {
        file: 'packages/sqlite/src/schema/migrate.ts',
        find: '    rollBack(database)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/transact.test.ts',
      title: 'no transaction is left open',
    },
  },
  {
    name: 'a sweep deletes counts of failures that have not expired yet',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/tick.ts',
        find: 'tickSweepIdle.run(queueId, now - failuresExpireMs, limit)',
        replace: 'tickSweepIdle.run(queueId, now + failuresExpireMs, limit)',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/conformance.test.ts',
      title: 'tick.sweeps.only-stale',
    },
  },
  {
    name: 'the steps of a history are never deleted from the file',
    edits: [
      {
        file: 'packages/sqlite/src/rows/history.ts',
        find: 'statements.historySweep.run(queueId, resolution.stepMs, stepsGoneAt(now, resolution))',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/records.test.ts',
      title: 'the steps of a history are deleted when they are not kept any more',
    },
  },
  {
    name: 'a write that fails after a wait for the lock is never answered',
    edits: [
      {
        file: 'packages/sqlite/src/connection/busy-retry.ts',
        find: 'this.#line.shift()\n        first.reject(error)',
        replace: 'this.#line.shift()',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/lock-waits.test.ts',
      title: 'a write that fails otherwise after a wait rejects at once',
    },
  },
  {
    name: 'a file of SQLite does not say which schema it has',
    edits: [
      {
        file: 'packages/sqlite/src/schema/migrate.ts',
        find: 'pragma user_version = $',
        replace: 'select $',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/open-and-close.test.ts',
      title: 'a new file says in its user_version which schema it has',
    },
  },
  {
    name: 'a file of SQLite that the permissions of Node hide is tried again for ever',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: "=== 'ERR_ACCESS_DENIED'",
        replace: "=== 'EACCES'",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/broken-library.test.ts',
      title: 'a file that the permissions of Node hide says so, and is not tried again',
    },
  },
  {
    name: 'writes of SQLite that waited for a lock let nothing else have a turn',
    edits: [
      {
        file: 'packages/sqlite/src/connection/busy-retry.ts',
        find: 'clock.monotonicMs() - startedAt > turnMsMax',
        replace: 'clock.monotonicMs() < startedAt',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/lock-waits.test.ts',
      title: 'writes that waited let other work have a turn after 20 ms',
    },
  },
]
