import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver on Postgres with servers, roles and transactions that do not fit. */
export const foundByTestsOfPostgresServers: readonly FoundByTest[] = [
  {
    name: 'on PGlite, watchers are polled although notices arrive',
    edits: [
      {
        file: 'packages/postgres/src/postgres-driver.ts',
        find: 'hears: () => this.#hearsPglite',
        replace: 'hears: () => false',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/pglite-notices.test.ts',
      title: 'watchers are polled only where no notice arrives',
    },
  },
  {
    name: 'on Postgres, a call in a transaction that has failed is to be repeated in it',
    edits: [
      {
        file: 'packages/postgres/src/transact/transaction-error.ts',
        find: "if (state === '25P02')",
        replace: "if (state === 'none')",
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'is named, and the call is not to be repeated',
    },
  },
  {
    name: 'on Postgres, a call in a transaction waits for a locked key for 50 ms only',
    edits: [
      {
        file: 'packages/postgres/src/transact/transact.ts',
        find: 'connection.lockWaitMs = poolUse.timeoutMs / 4',
        replace: 'connection.lockWaitMs = 50',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'a key that is locked is waited for, as by any update of a row',
    },
  },
  {
    name: 'on Postgres, a transaction that has met a deadlock is to be continued',
    edits: [
      {
        file: 'packages/postgres/src/transact/transaction-error.ts',
        find: "if (state === '40P01')",
        replace: "if (state === 'none')",
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'transactions that wait for keys of each other are told to roll back',
    },
  },
  {
    name: 'on Postgres, a transaction waits for a client that was never connected',
    edits: [
      {
        file: 'packages/postgres/src/transact/transact.ts',
        find: 'if (isConnected === false && isConnecting === false) {',
        replace: 'if (isConnected === true && isConnecting === true) {',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'a client that is not connected is refused',
    },
  },
  {
    name: 'on Postgres, a renamed schema uses that of a name which ends like its own',
    edits: [
      {
        file: 'packages/postgres/src/schema/schema-name.ts',
        find: 'name}) = 0)',
        replace: 'name}) >= 0)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title: 'a rename is noticed also where the old name, quoted, ends like the new one',
    },
  },
  {
    name: 'on Postgres, a role that does not own the functions of a schema is told to get grants',
    edits: [
      {
        file: 'packages/postgres/src/schema/migrate.ts',
        find: "sqlStateOf(error) === '42501' ? state.older(error) : error",
        replace: "sqlStateOf(error) === '0' ? state.older(error) : error",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/roles.test.ts',
      title: 'a role that may create, but owns nothing, is told that the owner has to migrate',
    },
  },
  {
    name: 'on Postgres, a limit of the role on transactions ends a migration',
    edits: [
      {
        file: 'packages/postgres/src/schema/migrate.ts',
        find: "'lock_timeout', 'transaction_timeout')",
        replace: "'lock_timeout')",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/roles.test.ts',
      title: 'no time limit of the role ends a migration',
    },
  },
  {
    name: 'on Postgres, a pooler in session mode without a free connection is not named',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: 'this.#untried.add(client)',
        replace: 'this.#untried.delete(client)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/conformance/conformance-pgbouncer.test.ts',
      title: 'a pooler in session mode that has no connection left is named',
    },
  },
  {
    name: 'a schema of Postgres whose rows are hidden from a role is called empty',
    edits: [
      {
        file: 'packages/postgres/src/schema/schema-state.ts',
        find: 'this.isHollow && this.#isHidden',
        replace: 'this.isHollow && !this.#isHidden',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/roles.test.ts',
      title: 'a schema is not called empty because row level security hides its migrations',
    },
  },
  {
    name: 'on Postgres, a full server refuses calls although the driver has connections',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: 'this.#takenCount > 0',
        replace: 'this.#takenCount > 1e9',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/full-server.test.ts',
      title: 'calls wait for the connections that the driver has',
    },
  },
  {
    name: 'on Postgres, of the calls that wait on a full server one is told that no connection is left',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: `      this.#wakeNext()
      if (`,
        replace: '      if (',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/full-server.test.ts',
      title:
        'calls that wait for a connection are refused, too, once it broke and there is no other',
    },
  },
  {
    name: 'on Postgres, a silent statement of any transaction is blamed on a pooler',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: `      this.#untried.delete(client)
      await this.#begin(`,
        replace: '      await this.#begin(',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/full-server.test.ts',
      title: 'a transaction whose first statement was answered is not blamed on a pooler',
    },
  },
  {
    name: 'a schema of Postgres whose functions for SQL cannot be replaced is said to lack values',
    edits: [
      {
        file: 'packages/postgres/src/schema/schema-state.ts',
        find: 'this.isUnnumbered && names',
        replace: 'names',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/roles.test.ts',
      title: 'functions for SQL that another role owns are named if they cannot be replaced',
    },
  },
  {
    name: 'on Postgres, a read without an answer is not repeated',
    edits: [
      {
        file: 'packages/postgres/src/connection/store.ts',
        find: '? read(send) : send()',
        replace: '? send() : send()',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'reads again when its answer is lost',
    },
  },
  {
    name: 'on Postgres, a call fails whose connection was ended because it was idle',
    edits: [
      {
        file: 'packages/postgres/src/connection/errors.ts',
        find: "new Set(['57P05', '25P03'])",
        replace: "new Set(['25P03'])",
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'a connection that the server ended because it was idle makes no call fail',
    },
  },
  {
    name: 'on Postgres, a server that was promoted gives out tokens again',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: 'if (first === undefined || this.#begun.has(client)) return',
        replace: 'if (first === undefined || !this.#begun.has(client)) return',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/tokens-after-failover.test.ts',
      title: 'no token is given out twice by',
    },
  },
  {
    name: 'doctor says of every table with row level security that keys are hidden',
    edits: [
      {
        file: 'packages/postgres/src/schema/doctor.ts',
        find: "names.includes('keys') &&",
        replace: 'names.length > 0 &&',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/doctor.test.ts',
      title: 'is said to hide what it hides',
    },
  },
  {
    name: 'on Postgres, raising tokens sets back what claims draw meanwhile',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: 'if least_token - last_token > 10000 then',
        replace: 'if least_token - last_token > 0 then',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/tokens-after-failover.test.ts',
      title: 'claims that draw tokens while another connection raises them get each token once',
    },
  },
  {
    name: 'on Postgres, tokens start again on a copy without the values of sequences',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: "if last_token is null and has_sequence_privilege('sluice.token', 'usage') then",
        replace: 'if false then',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/tokens-after-failover.test.ts',
      title: 'a copy without the values of sequences gives out no token before it is migrated',
    },
  },
  {
    name: 'on PGlite, a copy of the data gives out tokens again',
    edits: [
      {
        file: 'packages/postgres/src/connection/pglite-connection.ts',
        find: 'if (first !== undefined && !this.#isBegun) {',
        replace: 'if (first !== undefined && this.#isBegun) {',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/tokens-after-failover.test.ts',
      title: 'a PGlite that was set back gives out greater tokens to a driver that opens it',
    },
  },
  {
    name: 'on Postgres, a read waits for a silent server twice',
    edits: [
      {
        file: 'packages/postgres/src/connection/store.ts',
        find: 'return cause instanceof DeadlineError && !cause.isLost',
        replace: 'return cause instanceof DeadlineError && cause.isLost',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'a read that was silent until its deadline is retryable',
    },
  },
  {
    name: 'a process that was held up gives up an answer of Postgres that has come',
    edits: [
      {
        file: 'packages/postgres/src/connection/deadline.ts',
        find: 'Math.min(Math.max(ms - againMs, ms / 2), suspicion?.afterMs ?? ms)',
        replace: 'Math.min(ms, suspicion?.afterMs ?? ms)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/held-up.test.ts',
      title: 'a process that was held up reads the answer that has come',
    },
  },
  {
    name: 'on Postgres, a statement that the client did not send is not sent over another connection',
    edits: [
      {
        file: 'packages/postgres/src/connection/errors.ts',
        find: 'idleTooLong.has(state) || isUnsent(error)',
        replace: 'idleTooLong.has(state)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'ended before the first statement was sent makes no call fail',
    },
  },
  {
    name: 'numbers of failed runs in Postgres come from the sequence alone, which may be behind',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: "greatest(nextval('sluice.failed_runs_id_seq'), e.nth +",
        replace: "coalesce(nextval('sluice.failed_runs_id_seq'), e.nth +",
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/migrate.test.ts',
      title:
        'into a schema that was made before records failed runs, though its sequence is behind',
    },
  },
  {
    name: 'a call gives up waiting for a connection in use as soon as for a new one',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'idleTimeoutMillis: idleMs,',
        replace: 'idleTimeoutMillis: idleMs, connectionTimeoutMillis: Math.min(timeoutMs, 5_000),',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/full-server.test.ts',
      title:
        'while its connections are in use, a call waits for longer than it may take to open one',
    },
  },
  {
    name: 'a call that is made just before the driver closes is never answered',
    edits: [
      {
        file: 'packages/postgres/src/connection/pool-connections.ts',
        find: 'nextTurn(() => {',
        replace: '((now: () => void) => now())(() => {',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/idle-connections.test.ts',
      title:
        'a call that is made just before the driver closes is answered over an idle connection',
    },
  },
]
