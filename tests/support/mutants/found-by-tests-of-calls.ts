import type { FoundByTest } from './source-mutant.ts'

/** Defects of single calls of a queue, and the tests that find them. */
export const foundByTestsOfCalls: readonly FoundByTest[] = [
  {
    name: 'an add that waits for the next batch holds up adds of every priority',
    edits: [
      {
        file: 'packages/queue/src/batched/next-batch.ts',
        find: '!heldUp.has(priority)',
        replace: '(heldUp.size === 0 || priority === undefined)',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/batches.test.ts',
      title: 'keys whose priority is raised one by one are in two batches',
    },
  },
  {
    name: 'a Node that is too old makes a queue',
    edits: [
      {
        file: 'packages/queue/src/environment/parts.ts',
        find: "if ('transfer' in ArrayBuffer.prototype) return",
        replace: 'return',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/bad-options.test.ts',
      title: 'a runtime that is too old is refused, with the version that is needed',
    },
  },
  {
    name: 'doneMany around a queue that has none rejects before all keys are answered',
    edits: [
      {
        file: 'packages/queue/src/core/resolved.ts',
        find: 'return Promise.allSettled(calls).then(() => Promise.all(calls))',
        replace: 'return Promise.all(calls)',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/wrapping.test.ts',
      title: 'rejects once all keys are answered, with',
    },
  },
  {
    name: 'a wait for a key that is delayed around a foreign queue keeps the process alive with ref: false',
    edits: [
      {
        file: 'packages/queue/src/foreign/process-delays.ts',
        find: 'if (this.#options.ref && this.#callers > 0',
        replace: 'if (this.#callers > 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/living.test.ts',
      title: 'is done by every wait, unless ref is false, and by nothing else',
    },
  },
  {
    name: 'the depth misses the second run of a key that was parked',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: 'if (run.dueAt <= moment.now) this.#delay(key, run.laterAt, run.priority)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/metrics.test.ts',
      title: 'the second run of a key is counted after it was parked and unparked',
    },
  },
  {
    name: 'a key that the end of its lease parks stays in the depth',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-ledger.ts',
        find: "if (outcome === 'parked') this.parked(key, now)",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/metrics.test.ts',
      title: 'a key that the end of its lease parks leaves the depth',
    },
  },
  {
    name: 'explain does not foresee that the end of a lease parks its key',
    edits: [
      {
        file: 'packages/queue/src/inspect/explain.ts',
        find: 'info.parked || (held !== undefined && crashes + 1 >= maxCrashes)',
        replace: 'info.parked && crashes < maxCrashes',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'foresees that the end of a lease parks a key that has crashed too often',
    },
  },
  {
    name: 'a run whose error cannot be read keeps its span open',
    edits: [
      {
        file: 'packages/metrics/src/mark-failed.ts',
        find: '} catch {\n    // The span ends with what could be read.\n  }',
        replace: '} finally {\n    // The span ends with what could be read.\n  }',
      },
    ],
    finder: {
      file: 'packages/metrics/test/tracing.test.ts',
      title: 'a run ends its span also if its error cannot be read',
    },
  },
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
    name: 'a timeout of fetch is stored under a number',
    edits: [
      {
        file: 'packages/queue/src/driver/describe-failure.ts',
        find: 'code: hasNumber ? undefined : code,',
        replace: 'code,',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/last-error.test.ts',
      title: 'a timeout or an abort of the platform has its name and not its legacy number',
    },
  },
  {
    name: 'a terminal error of another copy of the package is retried',
    edits: [
      {
        file: 'packages/queue/src/worker/terminal-error.ts',
        find: 'return brand in (error as object)',
        replace: 'return error instanceof TerminalError',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: '29 a terminal error of another copy of the package ends it, too',
    },
  },
  {
    name: 'the end of a case of the conformance suite has no time limit',
    edits: [
      {
        file: 'packages/conformance/src/run-cases.ts',
        find: "await withinTime('closing the drivers and removing the stores of the case', end, endMsMax)",
        replace: 'await end',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a driver whose close never ends fails its cases, one after the other',
    },
  },
  {
    name: 'members that every object has are presets of buckets',
    edits: [
      {
        file: 'packages/metrics/src/provider/buckets.ts',
        find: 'Object.hasOwn(presets, buckets) ? presets[buckets] : undefined',
        replace: 'presets[buckets]',
      },
    ],
    finder: {
      file: 'packages/metrics/test/parts.test.ts',
      title: 'bounds of one s own have to rise from above 0',
    },
  },
  {
    name: 'the loop around a wrapped queue releases what was detached',
    edits: [
      {
        file: 'packages/queue/src/foreign/foreign-queue.ts',
        find: 'isLeft = false\n      detach?.call(held)',
        replace: 'detach?.call(held)',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/wrapping.test.ts',
      title: '2 Held: leaving a loop does not release what was detached',
    },
  },
  {
    name: 'a watch that does not end keeps the driver open',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: 'await this.#endWatch().finally(() => this.driver.close())',
        replace: 'await this.#endWatch()\n      await this.driver.close()',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/sharing.test.ts',
      title: 'a driver whose watch does not end is closed all the same',
    },
  },
  {
    name: 'a driver that is opened again has lost its clock',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: 'if (this.#userCount === 0) this.#clock = undefined',
        replace: 'this.#clock = undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/sharing.test.ts',
      title: 'a queue that begins while the driver closes waits for that, and opens it again',
    },
  },
]
