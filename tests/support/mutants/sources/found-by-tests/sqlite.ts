import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver for SQLite, and the tests that find them. */
export const foundByTestsOfSqlite: readonly FoundByTest[] = [
  {
    name: 'a database that is undefined is one that is handed in to SQLite',
    edits: [
      {
        file: 'packages/sqlite/src/sqlite-options.ts',
        find: 'return (options as Partial<DatabaseOptions>).database !== undefined',
        replace: "return 'database' in options",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/open-and-close.test.ts',
      title: 'an option that is undefined is absent',
    },
  },
  {
    name: 'a pause and its end raise no number by which other processes notice',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/operate.ts',
        find: 'tx.changed(0)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/conformance.test.ts',
      title: 'processes.wake.verbs',
    },
  },
  {
    name: 'a worker on SQLite is silent about a driver that was closed',
    edits: [
      {
        file: 'packages/sqlite/src/sqlite-driver.ts',
        find: "new SluiceError('ERR_STORE', 'the driver is not open",
        replace: "new SluiceError('ERR_CLOSED', 'the driver is not open",
      },
    ],
    finder: {
      file: 'tests/test/verbs/closed-driver.test.ts',
      title: 'a worker reports that the driver of its queue was closed',
    },
  },
  {
    name: 'a page that the system could not read is a finding about the file of SQLite',
    edits: [
      {
        file: 'packages/sqlite/src/connection/database-source.ts',
        find: '/error code=(266|8458)\\b/',
        replace: '/error code=(266|8459)\\b/',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/damage.test.ts',
      title: 'is no finding of an examination that could not read it',
    },
  },
  {
    name: 'a file name with white space at its end is accepted by SQLite',
    edits: [
      {
        file: 'packages/sqlite/src/sqlite-options.ts',
        find: 'if (/\\0|\\s$/.test(file)) {',
        replace: 'if (/\\0/.test(file)) {',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/refusals.test.ts',
      title: 'a path that ends with white space is refused',
    },
  },
  {
    name: 'a page that the system could not read stops workers of SQLite',
    edits: [
      {
        file: 'packages/sqlite/src/connection/connection.ts',
        find: "stage = 'examined'",
        replace: "stage = 'before-commit'",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/damage.test.ts',
      title: 'is a retryable error, and the next call succeeds',
    },
  },
  {
    name: 'a disk without room for the locks of SQLite is not called full',
    edits: [
      {
        file: 'packages/sqlite/src/connection/errors.ts',
        find: "stage !== 'commit' && isWithoutLocks(error)",
        replace: "stage === 'commit' && isWithoutLocks(error)",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/real-faults.test.ts',
      title: 'whose last room a new file takes',
    },
  },
  {
    name: 'a file that is created on a full disk is put in place without its log',
    edits: [
      {
        file: 'packages/sqlite/src/connection/store-file.ts',
        find: "database.exec('pragma wal_checkpoint(truncate)')",
        replace: "database.exec('pragma data_version')",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/real-faults.test.ts',
      title: 'whose last room a new file takes',
    },
  },
  {
    name: 'a relative path leads to the folder in which SQLite is opened',
    edits: [
      {
        file: 'packages/sqlite/src/connection/target.ts',
        find: 'const file = absolutePath(options.file)',
        replace: 'const { file } = options',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/open-and-close.test.ts',
      title: 'a relative path leads to the folder in which the driver was created',
    },
  },
  {
    name: 'a backup in place of the file is opened with the log of the former file',
    edits: [
      {
        file: 'packages/sqlite/src/connection/database-source.ts',
        find: 'if (size && isOther && birthtimeMs === this.#logBornAt) {',
        replace: 'if (!size && isOther && birthtimeMs === this.#logBornAt) {',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/faults.test.ts',
      title: 'a backup that was moved in place of the file',
    },
  },
  {
    name: 'a transaction on another copy of SQLite is accepted',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/transact.ts',
        find: 'if (difference === undefined) return\n',
        replace: 'if (target !== undefined) return\n',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/transact.test.ts',
      title: 'a connection of another library is refused',
    },
  },
  {
    name: 'time goes back with the wall clock',
    edits: [
      {
        file: 'packages/core/src/time/rising-time.ts',
        find: 'const wasSetBack = wall < this.#latest || wall < expected - stepMsMin',
        replace: 'const wasSetBack = false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/time.test.ts',
      title: 'ready keys stay ready and delays end on time',
    },
  },
  {
    name: 'SQLite hands out a position again after its key was deleted',
    edits: [
      {
        file: 'packages/sqlite/src/rows/store-row.ts',
        find: 'this.#mustSaveSeq = true',
        replace: 'this.#mustSaveSeq = false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/counters.test.ts',
      title: 'wakes other processes however often the last one was deleted',
    },
  },
  {
    name: 'SQLite overlooks the position of the last row',
    edits: [
      {
        file: 'packages/sqlite/src/statements.generated.ts',
        find: 'select k.seq from sluice_keys k order by k.id desc limit 1), 0)) as seq',
        replace: 'select 0), 0)) as seq',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/counters.test.ts',
      title: 'comes after all others when the one before it',
    },
  },
  {
    name: 'SQLite does not count the keys that an add inserts',
    edits: [
      {
        file: 'packages/sqlite/src/rows/write-transaction.ts',
        find: 'if (this.#pending !== null) this.#pending += count',
        replace: 'if (this.#pending === -1) this.#pending += count',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/counters.test.ts',
      title: 'is counted by the first add with a limit',
    },
  },
  {
    name: 'fencing numbers of SQLite pass 2^53',
    edits: [
      {
        file: 'packages/sqlite/src/rows/store-row.ts',
        find: 'if (this.#token > Number.MAX_SAFE_INTEGER - n) {',
        replace: 'if (n < 0) {',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/time.test.ts',
      title: 'is not passed beyond 2^53',
    },
  },
  {
    name: 'SQLite does not roll back',
    edits: [
      {
        file: 'packages/sqlite/src/connection/connection.ts',
        find: 'statements.rollback.run()',
        replace: "statements.database.exec('commit')",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/conformance.test.ts',
      title: 'atomic.add',
    },
  },
  {
    name: 'adds are acknowledged into a SQLite file that is gone',
    edits: [
      {
        file: 'packages/sqlite/src/connection/connection.ts',
        find: 'if (!this.#source.isReplaced()) return',
        replace: 'if (this.file !== code) return',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/faults.test.ts',
      title: 'a process that only adds notices within a second that its file',
    },
  },
  {
    name: 'the log of SQLite is looked at once in 256 commits',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'const pauseMs = 10_000\n',
        replace: 'const pauseMs = 10_000\nlet commits = 0\n',
      },
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'if (size > this.#bytesMax && now',
        replace: 'commits += 1\n    if (commits % 256 === 0 && size > this.#bytesMax && now',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/log-guard.test.ts',
      title: 'the length of the log counts, however few commits made it',
    },
  },
  {
    name: 'the folder of the log of SQLite is looked at twice',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'const isAtRest = this.#folder.hasNone()',
        replace: 'const isAtRest = this.#statusAtMs >= 0 || this.#folder.hasNone()',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/log-guard.test.ts',
      title: 'after its folder had been at rest',
    },
  },
  {
    name: 'the log of SQLite is the one that is there at the first commit',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'if (this.#inode === undefined) return false',
        replace: 'this.#inode ??= this.#status().ino',
      },
      {
        file: 'packages/sqlite/src/connection/connection.ts',
        find: 'this.#logGuard.opened()\n',
        replace: '\n',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/log-guard.test.ts',
      title: 'is noticed by the next commit, whose outcome is open',
    },
  },
  {
    name: 'a folder whose status cannot be read stays open',
    edits: [
      {
        file: 'packages/sqlite/src/connection/folder-changes.ts',
        find: 'this.close()\n',
        replace: '\n',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/folder-changes.test.ts',
      title: 'a folder whose status cannot be read is closed',
    },
  },
  {
    name: 'two changes of a folder with the same time are taken for one',
    edits: [
      {
        file: 'packages/sqlite/src/connection/folder-changes.ts',
        find: 'this.#changedAt = isSettled ? changedAt : Number.NaN',
        replace: 'this.#changedAt = changedAt',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/folder-changes.test.ts',
      title: 'a time that the next change could have too is not trusted',
    },
  },
  {
    name: 'the length of a log of SQLite in a folder at rest is never looked at',
    edits: [
      {
        file: 'packages/sqlite/src/connection/log-guard.ts',
        find: 'const statusMs = 1_000',
        replace: 'const statusMs = Infinity',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/log-guard.test.ts',
      title: 'the length of the log is looked at once a second',
    },
  },
  {
    name: 'the locks of a file of SQLite may be removed unnoticed',
    edits: [
      {
        file: 'packages/sqlite/src/connection/database-source.ts',
        find: '-shm`)?.ino}:',
        replace: '-wal`)?.ino}:',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/faults.test.ts',
      title: 'a file of locks that was removed while in use is noticed, and there again',
    },
  },
  {
    name: 'failed runs stay in a SQLite file until another run fails',
    edits: [
      {
        file: 'packages/sqlite/src/rows/history.ts',
        find: 'if (record.failedRuns.length === 0 && !isFirst) return',
        replace: 'if (record.failedRuns.length === 0) return',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/records.test.ts',
      title:
        'failed runs are deleted when they are older than a day, also if no run fails any more',
    },
  },
  {
    name: 'a purge has pending keys counted for ever',
    edits: [
      {
        file: 'packages/sqlite/src/rows/write-transaction.ts',
        find: 'this.#pending = null',
        replace: 'this.#pending = 0',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/counters.test.ts',
      title: 'writes no counter',
    },
  },
]
