import type { FoundByTest } from './source-mutant.ts'

/** Defects of the other stores and of what else the queue stands on, and the tests that find them. */
export const foundByTestsOfStores: readonly FoundByTest[] = [
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
        find: '(turns.get(client) ?? Promise.resolve()).then(verb)',
        replace: 'Promise.resolve().then(verb)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transact.test.ts',
      title: 'verbs of one transaction that are called together',
    },
  },
  {
    name: 'crashes outlast a run that ended well',
    edits: [
      {
        file: 'packages/core/src/transitions/finish.ts',
        find: 'state.crashes = 0\n  if (state.laterAt !== never) collapse',
        replace: 'if (state.laterAt !== never) collapse',
      },
    ],
    finder: {
      file: 'packages/core/test/transition-table.test.ts',
      title: 'a run that has ended leaves no crashes',
    },
  },
  {
    name: 'a timer fires half a millisecond early',
    edits: [
      {
        file: 'packages/core/src/time/system-clock.ts',
        find: 'if (leftMs > 0) {',
        replace: 'if (leftMs > 0.5) {',
      },
    ],
    finder: {
      file: 'packages/core/test/system-clock.test.ts',
      title: 'do not fire while a fraction of a millisecond is left',
    },
  },
  {
    name: 'metrics keep every deadline that a delayed key ever had',
    edits: [
      {
        file: 'packages/metrics/src/queue/due-heap.ts',
        find: 'this.#settle(this.#positions.get(entry.key) ?? this.#entries.length, entry)',
        replace: 'this.#settle(this.#entries.length, entry)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'a key that is delayed a million times over is remembered once',
    },
  },
  {
    name: 'metrics count a raised priority as an add',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: ": dedupe !== 'earliest' || mark?.dueAt === dueAt || dueAt < now - dueBeforeMs",
        replace: ": dedupe !== 'earliest'",
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'is no add, and its wait goes on',
    },
  },
  {
    name: 'metrics count in later what was only raised',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (dedupe === 'client-go' && !isPromised)",
        replace: 'if (!isPromised)',
      },
    ],
    finder: {
      file: 'packages/metrics/test/raising.test.ts',
      title: 'raises its priority, and promises nothing for later',
    },
  },
  {
    name: 'a tick forgets workers when failures expire',
    edits: [
      {
        file: 'packages/memory/src/memory-driver.ts',
        find: 'target.workers.deleteGone(now)',
        replace: 'target.workers.deleteGone(now + 86_400_000 - failuresExpireMs)',
      },
    ],
    finder: {
      file: 'packages/memory/test/memory-driver.test.ts',
      title: 'workers that were not seen for a day are deleted',
    },
  },
  {
    name: 'names of queues that were used once are kept',
    edits: [
      {
        file: 'packages/memory/src/memory-driver.ts',
        find: 'if (this.#queues.size >= this.#namesMax) this.#dropUnused()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/memory/test/heap.test.ts',
      title: 'names of queues that were used once leave nothing behind',
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
    name: 'wrong tokens of others keep the owner out',
    edits: [
      {
        file: 'packages/dashboard/src/access/visitors.ts',
        find: 'if (!isSame(token, auth.token)) {\n      if (this.#wrong.allow()) {',
        replace:
          'const isAllowed = this.#wrong.allow()\n    if (!isAllowed || !isSame(token, auth.token)) {\n      if (isAllowed) {',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/sign-in.test.ts',
      title: 'is not kept from the owner by the wrong tokens of others',
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
        file: 'packages/postgres/src/connection/listener.ts',
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
    name: 'priority 0 takes one of the 25 labels',
    edits: [
      {
        file: 'packages/metrics/src/queue/priority-labels.ts',
        find: 'new Set<number>()',
        replace: 'new Set<number>([0])',
      },
    ],
    finder: {
      file: 'packages/metrics/test/prometheus.test.ts',
      title: '25 priorities keep their labels, whether or not 0 is among them',
    },
  },
  {
    name: 'metrics of closed queues stay',
    edits: [
      {
        file: 'packages/metrics/src/recorder/recorder.ts',
        find: 'provider.forgetQueue?.(name)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/metrics/test/closed-queues.test.ts',
      title: 'a queue that was closed is exported once more with its last values',
    },
  },
  {
    name: 'Postgres is sent 32 Mi characters of items in one statement',
    edits: [
      {
        file: 'packages/postgres/src/rows/lock-and-change.ts',
        find: 'itemCharsMax: number = 4 *',
        replace: 'itemCharsMax: number = 32 *',
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
      file: 'packages/postgres/test/verbs/limits.test.ts',
      title: 'processes that add together do not go over maxPending',
    },
  },
  {
    name: 'a held key of memory gets the name of a later holder of another key',
    edits: [
      {
        file: 'packages/memory/src/direct-verbs.ts',
        find: 'if (this.heldCount === 0) this.states.usualHolder = holder',
        replace: 'this.states.usualHolder = holder',
      },
    ],
    finder: {
      file: 'packages/memory/test/memory-driver.test.ts',
      title: 'names the holders of keys that are held at the same time without a lease',
    },
  },
  {
    name: 'a purge on Postgres passes over locked keys',
    edits: [
      {
        file: 'packages/postgres/src/verbs/operate.ts',
        find: 'for (const waits of [false, true])',
        replace: 'for (const waits of [false, false])',
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
    name: 'a move onto the same store deletes its keys',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: "if ((await moveMarkOf(to, queue))['moveId'] === moveId) {",
        replace: 'if (false) {',
      },
    ],
    finder: {
      file: 'tests/test/move-queues.test.ts',
      title: 'a target that is the source by another address is refused, and nothing is changed',
    },
  },
  {
    name: 'a move ends before its target is closed',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'await to.leave()',
        replace: 'void to.leave()',
      },
    ],
    finder: {
      file: 'tests/test/move-queues.test.ts',
      title: 'a source that cannot be closed does not keep the target open',
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
    name: 'an imported key is ready by the clock of the store it came from',
    edits: [
      {
        file: 'packages/core/src/transitions/merge-row.ts',
        find: 'Math.min(row.readyAt, Math.max(row.dueAt, now))',
        replace: 'row.readyAt',
      },
    ],
    finder: {
      file: 'packages/core/test/transfer.test.ts',
      title: 'ready no later than now',
    },
  },
  {
    name: 'an imported bucket is listed with the rate of a plan',
    edits: [
      {
        file: 'packages/core/src/driver/token-buckets.ts',
        find: 'entry.rate = rate\n    entry.state = { tokens, lastMs: at }',
        replace: 'entry.state = { tokens, lastMs: at }',
      },
    ],
    finder: {
      file: 'packages/core/test/token-buckets.test.ts',
      title: 'a bucket that was put in has its own rate',
    },
  },
]
