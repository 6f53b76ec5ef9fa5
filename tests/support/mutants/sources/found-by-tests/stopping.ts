import type { FoundByTest } from '../source-mutant.ts'

/** Defects of stopping at a signal, and the tests that find them. */
export const foundByTestsOfStopping: readonly FoundByTest[] = [
  {
    name: 'a queue that a signal closes has the whole grace after its workers have had it',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'queue.close({ graceMs: left }, leftMs)',
        replace: 'queue.close({ graceMs: left })',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'queues get what their workers leave of the grace and two seconds',
    },
  },
  {
    name: 'a server that fails to stop takes the workers beside it their grace',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'attempt(() => stopInTime(worker))',
        replace: 'stopInTime(worker)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title:
        'one that fails to stop leaves the others their grace, and queues are closed after them',
    },
  },
  {
    name: 'a server that never stops keeps the queues open',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'await endsBy(Promise.resolve(worker.stop({ graceMs })), endAt)',
        replace: '(await worker.stop({ graceMs })) === undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title:
        'one that never stops, such as a server with an open socket, does not keep the queues open',
    },
  },
  {
    name: 'a process that fails to stop ends before it says why',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'process.nextTick(() => process.exit())',
        replace: 'process.exit()',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'the warning of a stop that fails is printed before the process ends',
    },
  },
]
