import type { FoundByTest } from '../source-mutant.ts'

/** Defects of stopping, of the ends of runs, and of the health of a worker, and the tests that find them. */
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
      title: 'of the grace and two seconds',
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
  {
    name: 'each wait for tokens leaves a listener on the signal that it was given',
    edits: [
      {
        file: 'packages/limiters/src/token-bucket.ts',
        find: "signal?.removeEventListener('abort', onAbort)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/limiters/test/token-bucket-wait.test.ts',
      title: 'a wait leaves no listener on its signal, however it ends',
    },
  },
  {
    name: 'a loop that is stopped hides the error of its last run',
    edits: [
      {
        file: 'packages/backoff/src/backoff-until.ts',
        find: 'isAbortOf(signal, error)',
        replace: 'signal.aborted',
      },
    ],
    finder: {
      file: 'packages/backoff/test/waits.test.ts',
      title: 'a loop that is stopped rejects with an error of its last run that is not the reason',
    },
  },
  {
    name: 'a loop whose function rejects with undefined ends as if it were stopped',
    edits: [
      {
        file: 'packages/backoff/src/interrupted.ts',
        find: 'if (!aborted) return false',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/backoff/test/waits.test.ts',
      title: 'a loop whose function rejects without a reason rejects',
    },
  },
  {
    name: 'a closed queue leaves the timer of a claim without an answer',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'for (const look of this.lateLooks) look.stop()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/automatic-attempts.test.ts',
      title: 'a worker whose key falls due then attempts two calls a second at most',
    },
  },
  {
    name: 'close waits for the pause of an add that a full queue has refused',
    edits: [
      {
        file: 'packages/queue/src/queue/soon-buffer.ts',
        find: 'this.#calls.handle.gate.leave(this)\n    this.#goOn(Infinity)',
        replace: 'this.#calls.handle.gate.leave(this)',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding-soon.test.ts',
      title: 'addSoon: an add that a full queue has refused is tried once more by close, at once',
    },
  },
  {
    name: 'a driver that closes is opened again for a queue that is closed meanwhile',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: '(this.#userCount > 0 ? this.open() : undefined)',
        replace: 'this.open()',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/sharing.test.ts',
      title: 'a queue that begins and is closed while the driver closes does not open it again',
    },
  },
  {
    name: 'a handler begins after a close or a stop has begun',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'const isEnding = this.#owner.isEnding()',
        replace: 'const isEnding = false',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/beginning-late.test.ts',
      title: 'which gives its key back',
    },
  },
  {
    name: 'a queue stays open whose backend fails to load while it closes',
    edits: [
      {
        file: 'packages/queue/src/core/late-backend.ts',
        find: 'if (this.#calls.length > 0) await this.#loading',
        replace: 'if (this.#calls.length > 0) await this.#later(() => undefined)',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/loading.test.ts',
      title: 'a queue whose backend fails to load while it closes is closed',
    },
  },
  {
    name: 'an addSoon that a close cuts off is reported as a call on a closed queue',
    edits: [
      {
        file: 'packages/queue/src/queue/soon-buffer.ts',
        find: 'cutOff = error\n',
        replace: '\n',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding-soon.test.ts',
      title: 'addSoon: an add that a close cuts off at',
    },
  },
  {
    name: 'a signal that no process can handle leaves the listeners of those before it',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'undo()\n      // SIGKILL',
        replace: '// SIGKILL',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'a signal that no process can handle is refused, and nothing changes',
    },
  },
  {
    name: 'a get whose key is being checked outlasts the close of its queue',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'core.inspection?.dismiss()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'a close gives back a key that was still being checked',
    },
  },
  {
    name: 'a handler that does not stop when its lease is lost keeps its slot',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'this.tally?.lost(held.token, error)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker.test.ts',
      title: 'abandons a handler that does not stop when its lease is lost',
    },
  },
  {
    name: 'a store that is away is asked for ever about a shutdown that nobody waits for any more',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'this.#core.backend.now(this.#giveUpAsking)',
        replace: 'this.#core.backend.now()',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/outages.test.ts',
      title: 'a store is not asked on for a shutdown that nobody waits for any more',
    },
  },
  {
    name: 'a run that ends well though the worker told it to end runs again',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'if (hasFailed && !isTerminal(failure)',
        replace: 'if (!isTerminal(failure)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker.test.ts',
      title: 'though the worker told it to end',
    },
  },
  {
    name: 'a key that onExhausted has finished is finished once more, and counted as lost',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'if (this.#mayFinish()) this.#handOver()',
        replace: 'this.#handOver()',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker.test.ts',
      title: 'leaves a key as onExhausted has finished it',
    },
  },
  {
    name: 'a worker whose event loop was blocked counts as ready',
    edits: [
      {
        file: 'packages/queue/src/worker/worker-health.ts',
        find: 'if (loopWatch.wasBlockedWithin(heartbeatMs))',
        replace: 'if (false)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/blocked-loop.test.ts',
      title: 'by default it may be blocked for',
    },
  },
  {
    name: 'a process whose controller was stopped in a pause of its adds lives until the pause ends',
    edits: [
      {
        file: 'packages/kubernetes/src/key-adder.ts',
        find: 'this.#pause.stop()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/key-adder.test.ts',
      title: 'a pause keeps the process alive, and stop ends it',
    },
  },
  {
    name: 'a process ends while keys of a controller wait to be stored',
    edits: [
      {
        file: 'packages/kubernetes/src/key-adder.ts',
        find: 'this.#pause.ref()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/key-adder.test.ts',
      title: 'a pause keeps the process alive, and stop ends it',
    },
  },
  {
    name: 'after an outage, a controller waits half a minute at the first error of the next',
    edits: [
      {
        file: 'packages/kubernetes/src/key-adder.ts',
        find: 'this.#failures = 0\n    }',
        replace: '}',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/key-adder.test.ts',
      title: 'with pauses that grow until it takes some',
    },
  },
  {
    name: 'a queue without addMany is given no key of a controller',
    edits: [
      {
        file: 'packages/kubernetes/src/key-adder.ts',
        find: 'if (this.#queue.addMany === undefined) this.#addSoon(batch)',
        replace: 'if (this.#queue.addMany === undefined) return',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/key-adder.test.ts',
      title: 'a queue of another library that has no addMany',
    },
  },
  {
    name: 'a worker that is stopped twice is stopping for ever',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: "if (this.#phase === 'running') this.#phase = 'stopping'",
        replace: "this.#phase = 'stopping'",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker-health.test.ts',
      title: 'a worker that is stopping is live, and not ready any more',
    },
  },
  {
    name: 'the time that onExhausted takes counts as work of the handler',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: '    this.#tookMs = this.#elapsedMs()\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker-stats.test.ts',
      title: 'has how long handlers ran, without the onExhausted',
    },
  },
  {
    name: 'a drain asks for the first ten ready keys only',
    edits: [
      {
        file: 'packages/queue/src/batched/batched-backend.ts',
        find: 'if (reply.cursor === undefined) return true',
        replace: 'return true',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/idle-and-drained.test.ts',
      title: 'a drain waits for a due key behind many that became due after it',
    },
  },
  {
    name: 'doneMany after a close asks the store, which is closed',
    edits: [
      {
        file: 'packages/queue/src/batched/many.ts',
        find: " || core.phase === 'closed'",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/closing.test.ts',
      title: 'close: then get gives undefined, finishing is lost, others reject with ERR_CLOSED',
    },
  },
]
