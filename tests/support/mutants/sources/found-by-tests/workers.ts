import type { FoundByTest } from '../source-mutant.ts'

/** Defects of workers and of what they claim and finish, and the tests of the suite that find them. */
export const foundByTestsOfWorkers: readonly FoundByTest[] = [
  {
    name: 'a handler that loses its slot is not reported',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: "if (error !== undefined) this.#report(error, 'abandoned')",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker.test.ts',
      title: 'aborts a handler that takes too long, and abandons one that does not stop',
    },
  },
  {
    name: 'a terminal error of another copy of the package is retried',
    edits: [
      {
        file: 'packages/queue/src/worker/terminal-error.ts',
        find: 'return error !== undefined && brand in (error as object)',
        replace: 'return error instanceof TerminalError',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: 'a terminal error of another copy of the package ends it, too',
    },
  },
  {
    name: 'a key that was claimed ahead is handed out after its lease',
    edits: [
      {
        file: 'packages/queue/src/held/give-back.ts',
        find: 'if (isTrusted && !isLost) return true',
        replace: 'if (isTrusted || !isLost) return true',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'a key that was claimed ahead is not handed out',
    },
  },
  {
    name: 'a handler has the asynchronous context that the one before it has left',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'void nextStep.then(() => this.#start())',
        replace: 'this.#start()',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/contexts.test.ts',
      title: 'a handler has the context of its worker',
    },
  },
  {
    name: 'a handler is called for a key whose lease ended after it was handed over',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'if (isEnding || !mayStart(held)) {',
        replace: 'if (isEnding) {',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'a handler is not called for a key that was handed over before it',
    },
  },
  {
    name: 'a queue that is closing hands out keys that were claimed ahead',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: "if (this.#core.phase !== 'open') return undefined",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'a close hands out no key that was claimed ahead',
    },
  },
  {
    name: 'the last record of a worker is sent while another one is under way',
    edits: [
      {
        file: 'packages/queue/src/batched/batched-backend.ts',
        find: 'await this.#nextDue.registered()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/history.test.ts',
      title: 'a worker that stops before its first record was added',
    },
  },
  {
    name: 'a handler begins after a close that gave up the last run of its key',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'this.#group.isStopping || this.#isClosing()',
        replace: 'this.#group.isStopping',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'that a close gives up does not let the next run of its key begin',
    },
  },
  {
    name: 'a key that was never started is left to its lease once that is not trusted',
    edits: [
      {
        file: 'packages/queue/src/held/give-back.ts',
        find: "if (owner.phase !== 'closed' && isTransient(error)) {",
        replace: "if (owner.phase !== 'closed' && !held.isLost && isTransient(error)) {",
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/past-deadlines.test.ts',
      title: 'a key that was claimed ahead and never started is given back',
    },
  },
  {
    name: 'a run that has ended is left to its lease once that is not trusted',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'if (!isTransient(error)) {',
        replace: 'if (!isTransient(error) || this.#held.isLost) {',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/past-deadlines.test.ts',
      title: 'a run that has ended is finished',
    },
  },
  {
    name: 'requeue wins over requeueAfterMs',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-result.ts',
        find: 'if (delayMs !== undefined && delayMs > 0) return',
        replace:
          "if (requeue === true) return { as: 'requeue', priority }\n  if (delayMs !== undefined && delayMs > 0) return",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/handler-results.test.ts',
      title: 'comes back by requeueAfterMs rather than requeue',
    },
  },
  {
    name: 'a thrown value that cannot be read takes a slot of the worker for good',
    edits: [
      {
        file: 'packages/queue/src/worker/terminal-error.ts',
        find: 'catch {\n    return false\n  }',
        replace: 'catch (unreadable) {\n    throw unreadable\n  }',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/hostile-values.test.ts',
      title: 'gives slot and key back when a handler throws',
    },
  },
  {
    name: 'a result that cannot be read leaves its key held',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'this.#report(error, this.#endOf(error))\n      return this.#failed(error)',
        replace: 'this.#report(error, this.#endOf(error))\n      throw error',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/hostile-values.test.ts',
      title: 'gives slot and key back when a handler returns',
    },
  },
  {
    name: 'a slot is taken until the finish is acknowledged',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'return active + finishing.size < slots + this.#core.claims.beyondSlotsMax',
        replace: 'return finishing.size === 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'holds no slot, and is counted',
    },
  },
  {
    name: 'finishes without an acknowledgement are not bounded',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'return active + finishing.size < slots + this.#core.claims.beyondSlotsMax',
        replace: 'return active < slots + this.#core.claims.beyondSlotsMax',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'is bounded: a store that does not answer stops the worker',
    },
  },
  {
    name: 'a key runs again before its finish is acknowledged',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'await last.acknowledgement()',
        replace: 'await undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'keeps its key from running again until it is acknowledged',
    },
  },
  {
    name: 'a finish that is given up aborts a signal',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'held.noteReturned()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'is given up by stop after the grace and a second',
    },
  },
  {
    name: 'a worker stops before its finishes are acknowledged',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'while (this.#finishing.size > 0) await this.#tally.nextAcknowledgement()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/acknowledging.test.ts',
      title: 'is waited for by stop, drain, close and runUntilIdle',
    },
  },
  {
    name: 'half of the claims take longer than the round trip for which keys are claimed ahead',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'sorted[Math.floor(sorted.length * longShare)]',
        replace: 'sorted[sorted.length >> 1]',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-amount.test.ts',
      title: 'claims ahead for two round trips of which nine in ten are no longer',
    },
  },
  {
    name: 'as much as possible is claimed ahead of slow handlers',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'const mean = 2 * this.#longMs * startsPerMs',
        replace: 'const mean = 1e6 * startsPerMs',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-auto.test.ts',
      title: 'claims nothing ahead of slow handlers',
    },
  },
  {
    name: 'each slot may claim a key ahead, however slow its handlers are',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'Math.min(mean, slots)',
        replace: 'slots',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-amount.test.ts',
      title: 'of slow handlers claims ahead twice the mean, and none of slower ones',
    },
  },
  {
    name: 'keys of a claim are kept by limits that have fallen since',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetching.ts',
        find: 'Math.max(max, beyondSlotsMax)',
        replace: 'Math.max(max, this.beyondSlotsMax)',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-auto.test.ts',
      title: 'keeps what a claim brings',
    },
  },
  {
    name: 'a key that has crashed twice is claimed ahead',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetching.ts',
        find: "phase === 'open' && held.crashes < 2",
        replace: "phase === 'open'",
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'a key that has crashed twice is never claimed ahead',
    },
  },
  {
    name: 'keys that are not started are kept for long',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'const keepMsMin = 100',
        replace: 'const keepMsMin = 10_000',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'keys that no handler starts within 100 ms',
    },
  },
  {
    name: 'a worker stops and keeps what it claimed ahead',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'const release = () => this.#core.claims.releasePrefetched()',
        replace: 'const release = () => undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'a worker has not stopped before the store has taken them back',
    },
  },
  {
    name: 'a worker stops before a claim in flight is answered',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetching.ts',
        find: 'await this.#inFlight.answered()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'a worker that stops gives back the keys of a claim in flight, too',
    },
  },
  {
    name: 'close gives the handlers of workers no time',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'givenMs ?? (isRunning() ? graceMsDefault : 0)',
        replace: 'givenMs ?? 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/closing.test.ts',
      title: 'by default, handlers of workers have ten seconds, and keys taken by hand none',
    },
  },
  {
    name: 'a close whose grace is taken away waits for its store as long as before',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'Promise.race([answered, graceEnded])',
        replace: 'answered',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/closing.test.ts',
      title:
        'called again with a grace of 0, it ends within two seconds, also if the store is silent',
    },
  },
]
