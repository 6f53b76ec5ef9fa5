import type { FoundByTest } from '../source-mutant.ts'

const pools = 'packages/postgres/src/connection/pool-connections.ts'

/** Defects of how connections to Postgres are used and given back, and the tests that find them. */
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
]
