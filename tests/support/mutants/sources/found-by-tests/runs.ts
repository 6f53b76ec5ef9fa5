import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the runs of handlers and of their records, and the tests that find them. */
export const foundByTestsOfRuns: readonly FoundByTest[] = [
  {
    name: 'the error of a result that cannot be read does not say that it is one',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-result.ts',
        find: 'if (SluiceError.is(cause)) throw cause',
        replace: 'throw cause',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/handler-results.test.ts',
      title: 'a result that cannot be read is reported as a result of the handler, with the cause',
    },
  },
  {
    name: 'a worker is idle while keys are due, if no claim is under way',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'if (!(await backend.isDrained(await backend.now()))) return false',
        replace: 'await backend.isDrained(await backend.now())',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/side-by-side.test.ts',
      title: 'a worker is not idle while a claim that has failed is still to be repeated',
    },
  },
  {
    name: 'a lease that is lost aborts the handlers of the other keys, too',
    edits: [
      {
        file: 'packages/queue/src/worker/work-tally.ts',
        find: 'if (run.request().token === token) run.abort(error)',
        replace: 'run.abort(error)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker.test.ts',
      title: 'a worker abandons a handler that does not stop when its lease is lost, and no other',
    },
  },
  {
    name: 'a handler that a stop has abandoned is reported again',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: "if (this.#isAbandoned || this.#held.phase === 'finished') return undefined",
        replace: "if (this.#held.phase === 'finished') return undefined",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'is given up by stop after the grace and a second, in one error with handlers',
    },
  },
  {
    name: 'a finish under way is reported as a handler that did not stop',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'if (deciding !== undefined) await deciding\n        this.#timer?.stop()',
        replace: 'if (deciding !== undefined) await deciding',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'is not abandoned, though an abort came while onExhausted was asked',
    },
  },
  {
    name: 'a finish that fails for good after a while is repeated for ever',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: '        error = failure\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'that fails for a while, and then for good, is reported once and given up',
    },
  },
  {
    name: 'every finish that is acknowledged counts as lost',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: "if (outcome === 'lost' && this.#core.phase !== 'closed') this",
        replace: 'if (outcome !== undefined) this',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker-stats.test.ts',
      title: 'has its counts since it started, with every heartbeat',
    },
  },
  {
    name: 'a run that asks for no requeue is not traced as a success',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: "this.#result = end.as === 'done' ? 'success' : end.as",
        replace: "this.#result = end.as as RunResult['result']",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/run-events.test.ts',
      title: 'a worker publishes itself and each run, in the words of controller-runtime',
    },
  },
  {
    name: 'the end of a lease that parks its key is not counted',
    edits: [
      {
        file: 'packages/queue/src/worker/work-tally.ts',
        find: " || outcome === 'parked'",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker-stats.test.ts',
      title: 'are counted where they park the key, too',
    },
  },
  {
    name: 'a driver that keeps no history gets records',
    edits: [
      {
        file: 'packages/queue/src/worker/work-tally.ts',
        find: 'if (!calls.driver.capabilities.history) return undefined\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/history.test.ts',
      title: 'a driver that keeps no history gets no records',
    },
  },
  {
    name: 'a stop of a worker takes options that it does not have',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: "    checkObject('options', options, ['graceMs'])\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: 'a stop with wrong options is refused, and the worker goes on',
    },
  },
  {
    name: 'signals that stop nothing are accepted',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'if (!Array.isArray(signals) || signals.length === 0)',
        replace: 'if (!Array.isArray(signals))',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'bad options are refused, naming the parameter',
    },
  },
  {
    name: 'a worker that fails to stop with something else than an error leaves the queues open',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'error instanceof Error ? error : String(error)',
        replace: 'error as Error',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title:
        'one that fails to stop leaves the others their grace, and queues are closed after them',
    },
  },
  {
    name: 'a third signal does not end the process',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: '    undo()\n    if (exit)',
        replace: '    if (exit)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'after the second signal, signals do what they do without this',
    },
  },
  {
    name: 'the report of keys without a lease that a close leaves says that they run again',
    edits: [
      {
        file: 'packages/queue/src/core/queue-errors.ts',
        find: "leaseMs === Infinity ? 'they stay held' : ",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/closing.test.ts',
      title: 'keys that are not given back in time are named in one error',
    },
  },
  {
    name: 'a loop over a queue in memory that adds keys again keeps the event loop from turning for ever',
    edits: [
      {
        file: 'packages/queue/src/queue/held-iterator.ts',
        find: 'await new Promise<void>(nextTurn)',
        replace: 'await undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/iterating.test.ts',
      title: 'the event loop turns in a loop that adds keys again and awaits nothing else',
    },
  },
  {
    name: 'whether transactions have committed is not asked again after the store was out of reach',
    edits: [
      {
        file: 'packages/queue/src/leases/commit-watch.ts',
        find: 'this.#calls.reportTrouble(error)',
        replace: 'this.#calls.reportTrouble(error)\n        return',
      },
    ],
    finder: {
      file: 'tests/test/transactions/within-sqlite.test.ts',
      title: 'is seen to have committed, though the store was out of reach when it was asked',
    },
  },
  {
    name: 'a key whose finish rejected is not renewed any more',
    edits: [
      {
        file: 'packages/queue/src/batched/finish-batcher.ts',
        find: "this.held.phase = 'held'",
        replace: "this.held.phase = 'held'; this.#core.onGivenBack(this.held, false)",
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/unknown-outcomes.test.ts',
      title:
        'a key whose finish rejected stays held: its lease is renewed until the finish is repeated',
    },
  },
  {
    name: 'a driver is closed while the registration of an ended worker is in flight',
    edits: [
      {
        file: 'packages/queue/src/batched/batched-backend.ts',
        find: '    await this.#unregistering.catch(() => undefined)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/last-registration.test.ts',
      title: 'a driver is not closed before the registration of an ended worker is answered',
    },
  },
  {
    name: 'a close waits for a store in trouble to register an ended worker',
    edits: [
      {
        file: 'packages/queue/src/batched/batched-backend.ts',
        find: 'if (!this.#calls.handle.gate.isClosed) this.#unregistering',
        replace: 'this.#unregistering',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/last-registration.test.ts',
      title: 'a store in trouble is not asked to register an ended worker while the queue closes',
    },
  },
  {
    name: 'the worker of a queue that is shut down is not registered as one that has ended',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: "if (this.#core.phase === 'closed' || !this.#core.calls.handle.isOpen) return",
        replace: "if (this.#core.phase !== 'open' || !this.#core.calls.handle.isOpen) return",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/last-registration.test.ts',
      title: 'is registered as one that has ended',
    },
  },
  {
    name: 'a queue is closed before its workers have ended',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'await endsBy(core.tally.allEnded(), endAt - leaveMs)',
        replace: 'await endsBy(Promise.resolve(), endAt - leaveMs)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/last-registration.test.ts',
      title:
        'a worker whose handler ends while its queue closes is registered as one that has ended',
    },
  },
  {
    name: 'a worker is not seen while its queue drains',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: "    if (this.#core.phase === 'closed') return\n    try {",
        replace: "    if (this.#core.phase !== 'open') return\n    try {",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/last-registration.test.ts',
      title: 'a worker is seen as long as its handler runs while its queue',
    },
  },
  {
    name: 'a retry around a queue of another library gives the key back before it was added again',
    edits: [
      {
        file: 'packages/queue/src/foreign/adapted-queue.ts',
        find: '        await this.addAfter(item, after.delayMs)\n',
        replace: '        void this.addAfter(item, after.delayMs)\n',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/limiter-around.test.ts',
      title: 'a retry that cannot be added gives nothing back, and may be made again',
    },
  },
  {
    name: 'metrics count a run that asks for another one later as no retry',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: 'if (again !== undefined && again.delayMs > 0) this.#meters.retries.inc()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/metrics/test/client-go.test.ts',
      title: 'a run that asks for another one later counts as a retry',
    },
  },
  {
    name: 'metrics count what a full queue has not taken as added',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (reply.outcome === 'failed' || reply.outcome === 'full') return",
        replace: "if (reply.outcome === 'failed') return",
      },
    ],
    finder: {
      file: 'packages/metrics/test/client-go.test.ts',
      title: 'what a store has not taken is not counted as added',
    },
  },
  {
    name: 'metrics count a key that was brought forward once more when its delay ends',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "    if (dedupe === 'earliest') this.#later.delete(key)\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/metrics/test/client-go.test.ts',
      title: 'an add that brings a delayed key forward, by the rule of one run',
    },
  },
]
