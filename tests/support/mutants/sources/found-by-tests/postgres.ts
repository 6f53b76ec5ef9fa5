import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver on Postgres, and the tests that find them. */
export const foundByTestsOfPostgres: readonly FoundByTest[] = [
  {
    name: 'on Postgres, a charge is made at the time before the wait for its bucket',
    edits: [
      {
        file: 'packages/postgres/src/rows/token-buckets.ts',
        find: 'work(buckets, lockedAt)',
        replace: 'work(buckets, now)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/locked-rows.test.ts',
      title: 'a charge that has waited for its bucket is made when it has it',
    },
  },
  {
    name: 'on Postgres, one locked row keeps a whole batch from being cancelled',
    edits: [
      {
        file: 'packages/postgres/src/verbs/cancel.ts',
        find: 'store.locked(queue, some, false)',
        replace: 'Promise.resolve(new Set(some))',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/locked-rows.test.ts',
      title: 'fails for a locked key alone',
    },
  },
  {
    name: 'a schema of Postgres with tables of another program is not called foreign',
    edits: [
      {
        file: 'packages/postgres/src/schema/migrate.ts',
        find: 'throw state.version === 0 ? orForeign(error, schema) : error',
        replace: 'throw state.version === -1 ? orForeign(error, schema) : error',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'is refused, and left as it is',
    },
  },
  {
    name: 'doctor calls a schema of Postgres that cannot be opened a warning',
    edits: [
      {
        file: 'packages/postgres/src/schema/doctor.ts',
        find: 'if (state.breakingVersion !== undefined) {',
        replace: 'if (state.breakingVersion === 0) {',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'a newer schema that breaks this program is a failure, another one a warning',
    },
  },
  {
    name: 'a passing error of a pooler is taken for damage',
    edits: [
      {
        file: 'packages/postgres/src/connection/errors.ts',
        find: "new Set(['XX001', 'XX002'])",
        replace: "new Set(['XX000', 'XX001', 'XX002'])",
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/errors.test.ts',
      title: 'tuple concurrently updated',
    },
  },
  {
    name: 'verbs of one transaction undo each other',
    edits: [
      {
        file: 'packages/postgres/src/transact/transact.ts',
        find: '(turns.get(client) ?? Promise.resolve()).then(call)',
        replace: 'Promise.resolve().then(call)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'verbs of one transaction that are called together',
    },
  },
  {
    name: 'a role whose transactions are read-only by default only looks open',
    edits: [
      {
        file: 'packages/postgres/src/schema/check-server.ts',
        find: " && row['read_only'] === 'off'",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'a role whose transactions are read-only by default is told to write',
    },
  },
  {
    name: 'buckets are charged over the pool of the callers',
    edits: [
      {
        file: 'packages/postgres/src/postgres-driver.ts',
        find: 'buckets: () => this.#open.target.buckets',
        replace: 'buckets: () => this.#open.target.connections',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'limited verbs in transactions on all clients of a pool',
    },
  },
  {
    name: 'doctor warns of every busy server',
    edits: [
      {
        file: 'packages/postgres/src/schema/doctor.ts',
        find: "level: leaseIndexes === undefined ? 'ok' : 'warning',",
        replace: "level: share > 0.5 ? 'ok' : 'warning',",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/doctor.test.ts',
      title: 'only an index that renewals write to is a warning',
    },
  },
  {
    name: 'doctor does not see that keys are hidden from the role',
    edits: [
      {
        file: 'packages/postgres/src/schema/doctor.ts',
        find: "level: secured === undefined ? 'ok' : 'warning',",
        replace: "level: 'ok',",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/doctor.test.ts',
      title: 'row level security that hides keys from the role is a warning',
    },
  },
  {
    name: 'a statement is sent over a listening connection that is busy',
    edits: [
      {
        file: 'packages/postgres/src/notices/listener.ts',
        find: 'if (!this.#isProven || client === undefined || this.#isBusy) return undefined',
        replace: 'if (!this.#isProven || client === undefined) return undefined',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/listener.test.ts',
      title: 'nothing is sent on a connection that has not answered yet',
    },
  },
  {
    name: 'Postgres is sent 4 Mi characters of items in one of several statements',
    edits: [
      {
        file: 'packages/postgres/src/rows/lock-and-change.ts',
        find: 'partCharsMax = 1024 *',
        replace: 'partCharsMax = 4 * 1024 *',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/limits.test.ts',
      title: 'no statement of a transaction is so long that the server gives up waiting for it',
    },
  },
  {
    name: 'processes on Postgres that add together go over maxPending',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: "perform pg_advisory_xact_lock(this_queue # hashtextextended('sluice.count_pending', 0));",
        replace: 'perform this_queue;',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/max-pending.test.ts',
      title: 'processes that add together do not go over maxPending',
    },
  },
  {
    name: 'a purge on Postgres passes over locked keys',
    edits: [
      {
        file: 'packages/postgres/src/verbs/operate.ts',
        find: 'purgeStep, waits > 0]',
        replace: 'purgeStep, false]',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/locked-rows.test.ts',
      title: 'a purge removes all but the locked key, and says that it stays',
    },
  },
  {
    name: 'on Postgres, a lease that is lost in a transaction does not name its key',
    edits: [
      {
        file: 'packages/postgres/src/transact/transact.ts',
        find: 'finishes[index]?.key',
        replace: 'queue',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'a lost lease fails the caller, and leaves the transaction as it was',
    },
  },
  {
    name: 'failed runs stay in Postgres until another run fails',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: 'delete from sluice.failed_runs f where f.queue_id = this_queue and f.at <= in_now - in_runs_ms;',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/limits.test.ts',
      title:
        'failed runs are deleted when they are older than a day, also if no run fails any more',
    },
  },
  {
    name: 'the search for locked keys keeps its locks',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: "      for update skip locked) x);\n    raise exception 'taken back' using errcode = 'SL000';",
        replace: '      for update skip locked) x);',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/locked-rows.test.ts',
      title: 'the search for locked keys keeps no lock while it goes on',
    },
  },
  {
    name: 'the outcome of a call on a closed PGlite is unknown',
    edits: [
      {
        file: 'packages/postgres/src/connection/pglite-connection.ts',
        find: 'if (this.#client.closed !== true) return',
        replace: 'if (true) return',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/closed-pglite.test.ts',
      title: 'calls on a closed client reject at once',
    },
  },
  {
    name: 'NULL in an array is a text where the session says so',
    edits: [
      {
        file: 'packages/postgres/src/connection/connection.ts',
        find: "set_config('array_nulls', 'on', true)",
        replace: 'true',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'a session that reads NULL in arrays as text',
    },
  },
  {
    name: 'a program that only calls doctor of Postgres ends before it is answered',
    edits: [
      {
        file: 'packages/postgres/src/schema/doctor.ts',
        find: 'proof.ref()',
        replace: 'proof.unref()',
      },
    ],
    finder: {
      file: 'packages/postgres/test/conformance/conformance-pgbouncer.test.ts',
      title: 'a program that does nothing else gets the findings of doctor',
    },
  },
  {
    name: 'the functions of a schema that was renamed still use the schema of the old name',
    edits: [
      {
        file: 'packages/postgres/src/schema/schema-state.ts',
        find: ' || this.#elsewhere.has(name)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'a schema that was renamed gets functions that use it',
    },
  },
  {
    name: 'the SQL functions of a schema that was renamed still use the schema of the old name',
    edits: [
      {
        file: 'packages/postgres/src/schema/public-functions.ts',
        find: '(mark?.[2] !== one.hash || !isHere)',
        replace: 'mark?.[2] !== one.hash',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'a schema that was renamed gets functions that use it',
    },
  },
  {
    name: 'a database that lacks characters is taken',
    edits: [
      {
        file: 'packages/postgres/src/schema/check-server.ts',
        find: "['UTF8', 'SQL_ASCII']",
        replace: "['UTF8', 'SQL_ASCII', 'LATIN1']",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'a database that lacks characters is refused',
    },
  },
  {
    name: 'doctor of Postgres reads numbers with the digits that the role shows',
    edits: [
      {
        file: 'packages/postgres/src/schema/doctor.ts',
        find: 'await checkServer(connections, probe)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/doctor.test.ts',
      title: 'a role that reads few digits of numbers',
    },
  },
  {
    name: 'tokens of a schema of Postgres that was replicated start again from 1',
    edits: [
      {
        file: 'packages/postgres/src/schema/schema-state.ts',
        find: 'return !isMissing && !this.isUnnumbered',
        replace: 'return !isMissing',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'without the values of its sequences gives out greater tokens',
    },
  },
  {
    name: 'tables of Sluice without rows are taken for those of another program',
    edits: [
      {
        file: 'packages/postgres/src/schema/migrate.ts',
        find: 'if (state.isHollow) throw state.older()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'without rows is not called foreign',
    },
  },
  {
    name: 'the error of an older schema names SQL that creates the tables again',
    edits: [
      {
        file: 'packages/postgres/src/schema/schema-state.ts',
        find: ', from: ',
        replace: ', at: ',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'the error of a schema that was renamed names the SQL that helps',
    },
  },
  {
    name: 'a driver of Postgres accepts a text in place of a function for warnings',
    edits: [
      {
        file: 'packages/postgres/src/postgres-options.ts',
        find: "  checkFunction('onWarning', onWarning)\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/options.test.ts',
      title: 'a text to call with warnings',
    },
  },
]
