import type { FoundByTest } from '../source-mutant.ts'

const pools = 'packages/postgres/src/connection/pool-connections.ts'

/** Defects of how Postgres is called, from here and from SQL, and the tests that find them. */
export const foundByTestsOfPostgresConnections: readonly FoundByTest[] = [
  {
    name: 'a transaction that fails in this process closes its connection without a rollback',
    edits: [{ file: pools, find: '(isOfServer && breaksConnection(error))', replace: 'true' }],
    finder: {
      file: 'packages/postgres/test/verbs/locked-rows.test.ts',
      title: 'a call that fails in this process has unlocked its rows when it fails, by a rollback',
    },
  },
  {
    name: 'the process of a connection that is given up runs its statement later',
    edits: [{ file: pools, find: 'await this.#use.probe?.terminate(', replace: 'void (' }],
    finder: {
      file: 'packages/postgres/test/connection/silent-connections.test.ts',
      title: 'a process of the server that stood still adds nothing after the call has failed',
    },
  },
  {
    name: 'the process of another connection is ended that has the same number by now',
    edits: [
      {
        file: 'packages/postgres/src/connection/connection-probe.ts',
        find: "backend_start < clock_timestamp() - $2 * interval '1 ms'",
        replace: '$2::float8 >= 0',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/silent-connections.test.ts',
      title: 'a process that was started after the connection has answered is not ended',
    },
  },
  {
    name: 'a transaction that only reads begins as one that writes',
    edits: [{ file: pools, find: 'beginText(options)', replace: 'beginText({})' }],
    finder: {
      file: 'packages/postgres/test/connection/hot-standby.test.ts',
      title: 'a standby serves what reads, to roles with other settings too',
    },
  },
  {
    name: 'a warning that cannot be written ends the listening',
    edits: [
      {
        file: 'packages/postgres/src/connection/warnings.ts',
        find: "safeListener('onWarning', warn)",
        replace: 'warn',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/listener.test.ts',
      title: 'an onWarning that throws does not end the listening',
    },
  },
  {
    name: 'a connection that breaks before the proof counts as one that gets no notices',
    edits: [
      {
        file: 'packages/postgres/src/notices/listener.ts',
        find: '      this.#brokenBy = error\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/listener.test.ts',
      title: 'what breaks a connection before its proof is sent is no lack of notices',
    },
  },
  {
    name: 'calls that wait for a connection when the driver closes wait on',
    edits: [
      { file: pools, find: "endWait(new Error('the driver was closed'))", replace: 'void endWait' },
    ],
    finder: {
      file: 'packages/postgres/test/connection/idle-connections.test.ts',
      title: 'calls that wait for a connection when the driver closes are rejected at once',
    },
  },
  {
    name: 'a call that the close of the driver leaves without a connection blames the address',
    edits: [{ file: pools, find: 'if (this.#isEnded) {', replace: 'if (false) {' }],
    finder: {
      file: 'packages/postgres/test/connection/closing.test.ts',
      title: 'calls that the close of a driver leaves without a connection say that it was closed',
    },
  },
  {
    name: 'a connection for buckets whose opening is not answered keeps the only place in its pool',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'tracked(givingUp(Client, use), opened)',
        replace: 'tracked(Client, opened)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'the connection for buckets is opened again after one whose opening was not answered',
    },
  },
  {
    name: 'from SQL, keys are added to a queue that is never listed or moved',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: "when starts_with(in_queue, 'sluice:metrics:')",
        replace: 'when false',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/public-function-checks.test.ts',
      title: 'keys and queues are refused where the library refuses them',
    },
  },
  {
    name: 'a program that waits for another one that migrates says only that a statement got no answer',
    edits: [
      {
        file: 'packages/postgres/src/schema/migrate.ts',
        find: '!(error.cause instanceof DeadlineError)',
        replace: 'error.cause !== undefined',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/roll-out.test.ts',
      title: 'a program that waits in vain for another one that migrates says so',
    },
  },
  {
    name: 'a process is ended whose number a pooler has made up',
    edits: [
      {
        file: 'packages/postgres/src/connection/connection-probe.ts',
        find: 'if (!this.#isTrusted) return\n',
        replace: '\n',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/silent-connections.test.ts',
      title: 'behind a pooler, which gives other numbers',
    },
  },
  {
    name: 'a pooler that comes later is not noticed',
    edits: [
      {
        file: 'packages/postgres/src/connection/connection-probe.ts',
        find: 'if (!active.has(client.processID ?? 0)) this.#isTrusted = false',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/silent-connections.test.ts',
      title: 'behind a pooler, which gives other numbers',
    },
  },
  {
    name: 'a finish in a transaction notifies nobody of the run that it leaves',
    edits: [
      {
        file: 'packages/postgres/src/transact/transact.ts',
        find: "({ outcome }) => outcome === 'ready' || outcome === 'delayed',",
        replace: '() => false,',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'others are notified of a finish that leaves a run',
    },
  },
  {
    name: 'the close of a Postgres driver waits for the answers of a silent server',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'for (const client of opened) destroySocket(client)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/closing.test.ts',
      title: 'the close of a driver cuts a call that a silent server does not answer',
    },
  },
  {
    name: 'the close of a Postgres driver waits for the connection that charges token buckets',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'tracked(givingUp(Client, use), opened)',
        replace: 'tracked(givingUp(Client, use), new Set())',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/closing.test.ts',
      title: 'the close of a driver cuts a charge of a token bucket beside a transaction',
    },
  },
  {
    name: 'Postgres says every minute that notices do not arrive',
    edits: [
      {
        file: 'packages/postgres/src/connection/warnings.ts',
        find: 'if (this.#lastAt.has(kind)) return',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/listener.test.ts',
      title: 'a warning that is given once is given once, any other again after ten seconds',
    },
  },
  {
    name: 'a process makes up for one step back of the clock of Postgres, and no other',
    edits: [
      {
        file: 'packages/postgres/src/connection/store.ts',
        find: 'this.#isRaising = false\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/clock-steps.test.ts',
      title: 'a process makes up for the second step back as for the first',
    },
  },
  {
    name: 'connections of Postgres that are not tried after a silent one keep their places in the pool',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: '        this.#discard(client)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/silent-connections.test.ts',
      title: 'old connections that are not tried keep no place in the pool',
    },
  },
  {
    name: 'a watched table refuses changes for an expression that the check lets through',
    edits: [
      {
        file: 'packages/postgres/src/schema/watch-table.ts',
        find: 'from (select * from',
        replace: 'from (select *, ctid from',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/watch-table.test.ts',
      title: 'an expression with a mistake is refused, and the table stays as it was',
    },
  },
  {
    name: 'the expressions of a watched table cannot name its rows by the table',
    edits: [
      {
        file: 'packages/postgres/src/schema/watch-table.ts',
        find: 'alias: quoteIdentifier(table),',
        replace: "alias: quoteIdentifier('changed'),",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/watch-table.test.ts',
      title: 'expressions name the columns by the table, too, and its whole row',
    },
  },
  {
    name: 'a table is watched as soon as a long transaction ends, and its writers wait for that, too',
    edits: [
      {
        file: 'packages/postgres/src/schema/watch-table.ts',
        find: 'set local lock_timeout',
        replace: 'set local deadlock_timeout',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/watch-table.test.ts',
      title:
        'a table that a long transaction has changed is left alone, and its writers do not wait',
    },
  },
  {
    name: 'the error of the server is not found in that of Sequelize',
    edits: [
      {
        file: 'packages/postgres/src/transact/foreign-transaction.ts',
        find: '[cause, driverError, original, driverAdapterError, meta]',
        replace: '[cause, driverError, driverAdapterError, meta]',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/foreign-transaction.test.ts',
      title: 'the error of the server is found in that of Sequelize',
    },
  },
  {
    name: 'in the transaction of another library, columns that it renames are taken for empty ones',
    edits: [
      {
        file: 'packages/postgres/src/transact/foreign-transaction.ts',
        find: 'rows.map(rowOf)',
        replace: 'rows as Row[]',
      },
      {
        file: 'packages/postgres/src/transact/foreign-transaction.ts',
        find: 'withValues(asTexts(text), values)',
        replace: 'withValues(text, values)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/foreign-transaction.test.ts',
      title: 'a library that answers with',
    },
  },
  {
    name: 'SQL of a watched table that the server refuses is answered with the advice to migrate',
    edits: [
      {
        file: 'packages/postgres/src/schema/watch-table.ts',
        find: ' ?? refusedSql(error, checked)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/watch-table.test.ts',
      title: 'SQL that the server refuses is named',
    },
  },
  {
    name: 'on Postgres, a call fails whose transaction was ended because it was idle',
    edits: [
      {
        file: 'packages/postgres/src/connection/errors.ts',
        find: "new Set(['57P05', '25P03'])",
        replace: "new Set(['57P05'])",
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'a transaction that the server ended because it was idle makes no call fail',
    },
  },
  {
    name: 'on Postgres, a process that was held up gives up a connection although its answer has come',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'connectionTimeoutMillis: 0',
        replace: 'connectionTimeoutMillis: connectMs',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/held-up.test.ts',
      title: 'a process that was held up while it connected reads the answer that has come',
    },
  },
  {
    name: 'on Postgres, a migration fails whose transaction was ended because it was idle',
    edits: [
      {
        file: 'packages/postgres/src/schema/migrate.ts',
        find: 'await whileWithoutEffect(() =>',
        replace: 'await ((attempt) => attempt())(() =>',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'a migration that the server ended because it was idle is made',
    },
  },
  {
    name: 'on Postgres, triggers are not created whose transaction was ended because it was idle',
    edits: [
      {
        file: 'packages/postgres/src/schema/watch-table.ts',
        find: 'await whileWithoutEffect(() =>',
        replace: 'await ((attempt) => attempt())(() =>',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'triggers whose transaction the server ended because it was idle are created',
    },
  },
]
