import type { FoundByTest } from '../source-mutant.ts'

const waits = 'packages/sqlite/test/lock-waits.test.ts'

/** Defects of the connection to SQLite while it is locked or in trouble, and the tests that find them. */
export const foundByTestsOfSqliteConnections: readonly FoundByTest[] = [
  {
    name: 'a write that has waited for a lock wakes no worker of its process',
    edits: [
      {
        file: 'packages/sqlite/src/sqlite-driver.ts',
        find: 'done.then(announced)',
        replace: 'done',
      },
    ],
    finder: {
      file: waits,
      title: 'a write that has waited wakes the watchers of its process',
    },
  },
  {
    name: 'an examination waits behind writes that wait for a lock',
    edits: [
      {
        file: 'packages/sqlite/src/connection/connection.ts',
        find: 'return this.#retry.run(attempt, true)',
        replace: 'return this.#retry.run(attempt)',
      },
    ],
    finder: {
      file: waits,
      title: 'an examination does not wait behind a write',
    },
  },
  {
    name: 'an examination fails with an error of the library',
    edits: [
      {
        file: 'packages/sqlite/src/connection/connection.ts',
        find: "throw storeError(error, 'before-commit', this.file)",
        replace: 'throw error',
      },
    ],
    finder: {
      file: waits,
      title: 'an examination does not wait behind a write',
    },
  },
  {
    name: 'a transaction of the caller is rolled back when the store is opened again',
    edits: [
      {
        file: 'packages/sqlite/src/connection/database-source.ts',
        find: 'this.#isLeftOpen = false\n    // The',
        replace: '// The',
      },
    ],
    finder: {
      file: waits,
      title: 'a transaction of the caller is never rolled back',
    },
  },
  {
    name: 'a process ends where the commits of others cannot be read',
    edits: [
      {
        file: 'packages/sqlite/src/connection/wake-signal.ts',
        find: '} catch {\n      // If',
        replace: '} catch (error) {\n      throw error\n      // If',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/wake-signal.test.ts',
      title: 'is called later where the commits of others cannot be read',
    },
  },
  {
    name: 'lockWaitMs is ignored for a file',
    edits: [
      {
        file: 'packages/sqlite/src/connection/target.ts',
        find: 'fileSettings({ ...options, file }),\n        environment,\n        options.lockWaitMs ??',
        replace: 'fileSettings({ ...options, file }),\n        environment,',
      },
    ],
    finder: {
      file: waits,
      title: 'lockWaitMs is how long a write waits',
    },
  },
  {
    name: 'lockWaitMs is ignored for the file of a database',
    edits: [
      {
        file: 'packages/sqlite/src/connection/target.ts',
        find: "ownership: 'guest',\n        },\n        environment,\n        options.lockWaitMs ??",
        replace: "ownership: 'guest',\n        },\n        environment,",
      },
    ],
    finder: {
      file: waits,
      title: 'lockWaitMs is how long a write waits',
    },
  },
  {
    name: 'lockWaitMs is ignored for a database that is exclusive',
    edits: [
      {
        file: 'packages/sqlite/src/connection/target.ts',
        find: 'const lockWaitMs = options.lockWaitMs ??',
        replace: 'const lockWaitMs =',
      },
    ],
    finder: {
      file: waits,
      title: 'lockWaitMs is how long a write waits',
    },
  },
  {
    name: 'a package that no file handle is left for is one to install',
    edits: [
      {
        file: 'packages/core/src/package-error.ts',
        find: 'outOfHandles.test(String(message))',
        replace: 'outOfHandles.test(name)',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/broken-library.test.ts',
      title:
        'a better-sqlite3 for which no file handle is left is loaded later, and no other one instead',
    },
  },
  {
    name: 'a package that the flags of Node forbid is one to install again',
    edits: [
      {
        file: 'packages/sqlite/src/library/library.ts',
        find: "code === 'ERR_DLOPEN_DISABLED' || cause instanceof EvalError",
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/broken-library.test.ts',
      title: 'says that flags of Node forbid it, and what else there is',
    },
  },
  {
    name: 'a better-sqlite3 that cannot make rows is noticed with a file only',
    edits: [
      {
        file: 'packages/sqlite/src/library/library.ts',
        find: "database.prepare('select 1 as one').get()",
        replace: "database.prepare('select 1 as one')",
      },
    ],
    finder: {
      file: 'packages/sqlite/test/broken-library.test.ts',
      title: 'says that flags of Node forbid it, and what else there is',
    },
  },
]
