import type { FoundByTest } from '../source-mutant.ts'

const pools = 'packages/postgres/src/connection/pool-connections.ts'
const deadlines = 'packages/postgres/src/connection/deadline.ts'
const callers = 'packages/postgres/test/connection/callers-pool.test.ts'
const idle = 'packages/postgres/test/connection/idle-connections.test.ts'
const heldUp = 'packages/postgres/test/connection/held-up.test.ts'

/** Defects of how the driver on Postgres uses pools, and the tests that find them. */
export const foundByTestsOfPostgresPools: readonly FoundByTest[] = [
  {
    name: 'a server that stops ends the process while the pool of the caller hands out a connection',
    edits: [
      {
        file: pools,
        find: "if (!use.end) (pool as object as AcquiringPool).on('acquire', listenUntilTaken)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/callers-pool.test.ts',
      title: 'that the server ends in the same packet, does not end the process',
    },
  },
  {
    name: 'a driver that is closed leaves a listener in the pool of the caller',
    edits: [
      {
        file: pools,
        find: "this.#pool.removeListener('error', ignore)",
        replace: '',
      },
    ],
    finder: {
      file: callers,
      title: 'a driver that is closed leaves nothing in the pool',
    },
  },
  {
    name: 'each call leaves a listener on the connection that it has used',
    edits: [
      {
        file: pools,
        find: "    client.removeListener('error', ignore)\n    if",
        replace: '    if',
      },
    ],
    finder: {
      file: callers,
      title: 'a driver that is closed leaves nothing in the pool',
    },
  },
  {
    name: 'a pool of the caller loses the connections that come when their calls were given up',
    edits: [
      {
        file: pools,
        find: 'late.release()',
        replace: 'void late',
      },
    ],
    finder: {
      file: callers,
      title: 'a connection that comes when its call was given up goes back into the pool',
    },
  },
  {
    name: 'a connection of the caller that breaks while it is in use ends the process',
    edits: [
      {
        file: pools,
        find: "          client.on('error', ignore)\n",
        replace: '',
      },
    ],
    finder: {
      file: callers,
      title: 'a connection that breaks while the driver has it, and again after that',
    },
  },
  {
    name: 'a connection of the caller that was given back broken ends the process when it breaks again',
    edits: [
      {
        file: pools,
        find: "if (isBroken) {\n      client.on('error', ignore)\n",
        replace: 'if (isBroken) {\n',
      },
    ],
    finder: {
      file: callers,
      title: 'a connection that breaks while the driver has it, and again after that',
    },
  },
  {
    name: 'a silent connection of the caller that was given up ends the process when it breaks',
    edits: [
      {
        file: pools,
        find: "unknown): void {\n    client.on('error', ignore)\n",
        replace: 'unknown): void {\n',
      },
    ],
    finder: {
      file: callers,
      title: 'a silent connection that is given up, and breaks later',
    },
  },
  {
    name: 'a connection on which a rollback was not answered goes back into the pool',
    edits: [
      {
        file: pools,
        find: "this.#giveBack(client, failed instanceof DeadlineError ? failed : new Error('no rollback'))",
        replace: 'this.#giveBack(client)',
      },
    ],
    finder: {
      file: callers,
      title: 'a connection on which a rollback is not answered is cut',
    },
  },
  {
    name: 'behind a pooler, a claim is not told the last tokens first',
    edits: [
      {
        file: pools,
        find: 'return await this.connected(work, options)',
        replace: 'return await this.connected(work)',
      },
    ],
    finder: {
      file: callers,
      title: 'what goes first on a connection also does where a pooler shows itself',
    },
  },
  {
    name: 'behind a pooler, a claim in a transaction is not told the last tokens first',
    edits: [
      {
        file: pools,
        find: 'return await this.transaction(work, options)',
        replace: 'return await this.transaction(work)',
      },
    ],
    finder: {
      file: callers,
      title: 'what goes first on a connection also does where a pooler shows itself',
    },
  },
  {
    name: 'token buckets beside a transaction are charged without the password of the pool',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: "({ ...options, password: options['password'], ...more })",
        replace: '({ ...options, ...more })',
      },
    ],
    finder: {
      file: callers,
      title: 'a token bucket beside a transaction is charged with a password that was given apart',
    },
  },
  {
    name: 'a program has more connections than poolSize',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'max: poolSize, ',
        replace: '',
      },
    ],
    finder: {
      file: idle,
      title: 'many calls at a time have no more connections than poolSize',
    },
  },
  {
    name: 'an attempt to open that fails leaves a connection',
    edits: [
      {
        file: 'packages/postgres/src/postgres-driver.ts',
        find: 'await closeAll(target)\n      // Reading',
        replace: '// Reading',
      },
    ],
    finder: {
      file: idle,
      title: 'an attempt to open that fails leaves no connection',
    },
  },
  {
    name: 'a process with nothing to do waits for the time of a call that was answered',
    edits: [
      {
        file: deadlines,
        find: 'isOver = true\n      timer.stop()',
        replace: 'isOver = true',
      },
    ],
    finder: {
      file: heldUp,
      title: 'an answer leaves no timer behind',
    },
  },
  {
    name: 'each call that was answered stays in the memory of its pool',
    edits: [
      {
        file: deadlines,
        find: 'waits?.delete(end)',
        replace: '',
      },
    ],
    finder: {
      file: heldUp,
      title: 'an answer leaves no timer behind',
    },
  },
  {
    name: 'a table is watched with an item that is no jsonb',
    edits: [
      {
        file: 'packages/postgres/src/schema/watch-table.ts',
        find: 'if (item !== undefined) {\n    // A cast',
        replace: 'if (item === null) {\n    // A cast',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/watch-table.test.ts',
      title: 'SQL that the server refuses is named',
    },
  },
  {
    name: 'a long statement on its way to Postgres counts as silence',
    edits: [
      {
        file: 'packages/postgres/src/connection/pg-connection.ts',
        find: ' + secondsUnderWay(values, clock.monotonicMs() - sentAt)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/silent-connections.test.ts',
      title:
        'a long statement is under way for longer, before its connection is suspected and given up',
    },
  },
  {
    name: 'on Postgres, a process that was held up while it connected has 100 ms for all further answers',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'bytesReadOf(this)',
        replace: '0',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/held-up.test.ts',
      title: 'reads the answer that has come, and those after',
    },
  },
  {
    name: 'a key that is given back while the keys are counted is in none of the counts',
    edits: [
      {
        file: 'packages/postgres/src/statements.generated.ts',
        find: ') language plpgsql stable\n',
        replace: ') language plpgsql\n',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/counts.test.ts',
      title: 'a key that is taken and given back meanwhile is counted once',
    },
  },
  {
    name: 'on Postgres, a server that has to wake up is given 5 s for a connection, whatever timeoutMs is',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'Math.min(timeoutMs, Math.max(connectMs, timeoutMs / 2))',
        replace: 'Math.min(timeoutMs, connectMs)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/full-server.test.ts',
      title: 'a connection is given up that is not opened within',
    },
  },
  {
    name: 'on PGlite, columns are what the parsers of the program make of them',
    edits: [
      {
        file: 'packages/postgres/src/connection/pglite-connection.ts',
        find: 'this.#client.query(text, [...values], asText)',
        replace: 'this.#client.query(text, [...values])',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/pglite-parsers.test.ts',
      title: 'columns are read as the database says them',
    },
  },
  {
    name: 'on Postgres, a finish after a failure reads the long items of its keys',
    edits: [
      {
        file: 'packages/postgres/src/rows/lock-and-change.ts',
        find: 'readsItems ? null : readBytesMax',
        replace: 'null',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/slow-transactions.test.ts',
      title: 'a finish after a failure moves neither items nor earlier errors',
    },
  },
  {
    name: 'on Postgres, rows with long items are never dropped',
    edits: [
      {
        file: 'packages/postgres/src/verbs/transfer.ts',
        find: '{ readsItems: true }',
        replace: '{}',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/slow-transactions.test.ts',
      title: 'rows are dropped in one step, and not those whose items have changed',
    },
  },
  {
    name: 'on Postgres, a write whose answer is lost is made twice, and counts as not made',
    edits: [
      {
        file: 'packages/postgres/src/connection/store.ts',
        find: "return reads || name === 'findLockedKeys' ? read(send) : send()",
        replace: 'return read(send)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'is not made again when its answer is lost, and its outcome is unknown',
    },
  },
  {
    name: 'on Postgres, a renewal that is not answered takes all of the lease',
    edits: [
      {
        file: 'packages/postgres/src/verbs/renew.ts',
        find: 'now === null ? Math.max(renewMsMin, leaseMs * renewShare) : Infinity',
        replace: 'Infinity',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/renewals.test.ts',
      title: 'a renewal leaves time for two more tries',
    },
  },
  {
    name: 'on Postgres, the outcome of a limited add in a transaction is unknown where only that of its token is',
    edits: [
      {
        file: 'packages/postgres/src/transact/transact.ts',
        find: 'use.buckets().transaction(charge).catch(notCharged)',
        replace: 'use.buckets().transaction(charge)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/lost-answers.test.ts',
      title: 'a limited add in a transaction whose token may be spent is not made',
    },
  },
]
