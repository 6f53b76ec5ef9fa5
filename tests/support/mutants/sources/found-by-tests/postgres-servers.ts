import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the driver on Postgres with servers, roles and transactions that do not fit. */
export const foundByTestsOfPostgresServers: readonly FoundByTest[] = [
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
      title: 'a transaction with an error is named, and the call is not to be repeated',
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
]
