import type { FoundByTest } from '../source-mutant.ts'

const idleOnPostgres = {
  file: 'packages/postgres/test/connection/idle-process.test.ts',
  title: 'a process that has not closed its driver ends when it has nothing else to do',
}

/** Defects that keep a process alive which has nothing to do, or end it too early, and the tests that find them. */
export const foundByTestsOfIdleProcesses: readonly FoundByTest[] = [
  {
    name: 'a signal does not close a queue that it gives more than a day',
    edits: [
      {
        file: 'packages/queue/src/queue/plain-queue.ts',
        find: 'leftMs === undefined ? graceMsMax : delayMsMax',
        replace: 'graceMsMax',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title:
        'a queue of a loop has every grace that is taken, also one that is longer than a close of its own takes',
    },
  },
  {
    name: 'on Postgres, the connection that listens keeps the process alive',
    edits: [
      {
        file: 'packages/postgres/src/notices/listener.ts',
        find: 'client.unref?.()',
        replace: '',
      },
    ],
    finder: idleOnPostgres,
  },
  {
    name: 'on Postgres, connections without a call keep the process alive',
    edits: [
      {
        file: 'packages/postgres/src/connection/target.ts',
        find: 'idleTimeoutMillis: idleMs, allowExitOnIdle: true,',
        replace: 'idleTimeoutMillis: idleMs,',
      },
    ],
    finder: idleOnPostgres,
  },
  {
    name: 'on Postgres, a process ends before it has announced the second of two changes in a row',
    edits: [
      {
        file: 'packages/postgres/src/notices/wake-signal.ts',
        find: 'gap.timer.ref()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/connection/idle-process.test.ts',
      title: 'stays until other processes know of what it added',
    },
  },
  {
    name: 'on Redis, connections without a call keep the process alive',
    edits: [
      {
        file: 'packages/redis/src/clients/link.ts',
        find: 'this.#client?.hold(isBusy)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/connection/idle-process.test.ts',
      title: 'ends when it has nothing else to do: ',
    },
  },
  {
    name: 'a worker process of the demo whose demo has gone while it started stays',
    edits: [
      {
        file: 'apps/demo/src/worker-process.ts',
        find: 'if (process.connected === false) void stop()',
        replace: '',
      },
    ],
    finder: {
      file: 'apps/demo/test/demo.test.ts',
      title: 'a worker whose demo has gone while it started ends in order',
    },
  },
  {
    name: 'a worker process of the demo fails when its demo has gone before it says of a run',
    edits: [
      {
        file: 'apps/demo/src/worker-process.ts',
        find: 'process.send?.(message, (error) => {',
        replace:
          'void ((_message: unknown, _then: unknown) => process.send?.(message))(message, (error: unknown) => {',
      },
    ],
    finder: {
      file: 'apps/demo/test/demo.test.ts',
      title: 'a worker whose demo has gone when it begins a run ends in order',
    },
  },
]
