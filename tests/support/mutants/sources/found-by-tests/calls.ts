import type { FoundByTest } from '../source-mutant.ts'

const delaying = 'packages/queue/src/queue/delaying-queue.ts'

const busy =
  'if (this.#waiting.size > 0 || !this.#unanswered.isEmpty || !this.#late.isEmpty) return'

/** Defects of the calls that a queue makes of its driver, and of the queue around it, and the tests that find them. */
export const foundByTestsOfCalls: readonly FoundByTest[] = [
  {
    name: "the rejection of an onError is nobody's",
    edits: [
      {
        file: 'packages/core/src/call-listener.ts',
        find: 'Promise.resolve(answer).catch(failed)',
        replace: 'return',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/failures-shown.test.ts',
      title: 'is printed, after what that has thrown',
    },
  },
  {
    name: 'sluice forget takes a missing key for one without failures',
    edits: [
      {
        file: 'packages/cli/src/commands/keys/forget.ts',
        find: "=== undefined ? 'missing' : 'unchanged'",
        replace: "=== undefined ? 'unchanged' : 'unchanged'",
      },
    ],
    finder: {
      file: 'packages/cli/test/key-verbs.test.ts',
      title: 'every verb exits with 4 for a missing key',
    },
  },
  {
    name: 'any answer of the store ends the trouble with claims',
    edits: [
      {
        file: 'packages/queue/src/driver/store-health.ts',
        find: 'failing.isStuck ||= failing.isPassed',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/worker-health.test.ts',
      title: 'that fails again and again is trouble, whatever else is answered',
    },
  },
  {
    name: 'a failure is stored without the code of its cause',
    edits: [
      {
        file: 'packages/queue/src/driver/describe-failure.ts',
        find: 'const { code = cause.code, message } = own',
        replace: 'const { code, message } = own',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/last-error.test.ts',
      title: 'what fetch failed of is kept',
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
      file: 'packages/queue/test/foreign/missing-methods.test.ts',
      title: 'Held: leaving a loop does not release what was detached',
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
  {
    name: 'a store is degraded since a failure that is long over',
    edits: [
      {
        file: 'packages/queue/src/driver/store-health.ts',
        find: 'failing !== undefined && now - failing.lastAt < troubleMsMax',
        replace: 'failing !== undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/store-health.test.ts',
      title: 'a failure that comes long after earlier ones is the first of another disturbance',
    },
  },
  {
    name: 'a shutdown does not wait for adds in flight',
    edits: [
      {
        file: 'packages/queue/src/batched/batched-backend.ts',
        find: 'await this.adds.answered()\n    await this.adds.answered()\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/draining.test.ts',
      title: 'Shutdown: a drain waits for them',
    },
  },
  {
    name: 'a shutdown does not wait for an add that waits for an earlier one of its key',
    edits: [
      {
        file: 'packages/queue/src/batched/batched-backend.ts',
        find: 'await this.adds.answered()\n    await this.adds.answered()\n',
        replace: 'await this.adds.answered()\n',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/draining.test.ts',
      title: 'Shutdown: it waits for a second add of a key that waits for the first',
    },
  },
  {
    name: 'adds that go on keep an idle worker from being idle',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: `this.#waits.check()\n    ${busy}`,
        replace: `${busy}\n    this.#waits.check()`,
      },
    ],
    finder: {
      file: 'packages/queue/test/core/idle-and-drained.test.ts',
      title: 'runUntilIdle ends though keys are added without a pause, none of them due',
    },
  },
  {
    name: 'a batch has the asynchronous context of the batch before it',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'void this.#inFlight?.then(() => this.#run())',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/contexts.test.ts',
      title: 'a batch has the context of its first call, not that of the batch before it',
    },
  },
  {
    name: 'an add is sent though its time was up before the store was open',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'jobs.some(({ isAnswered }) => isAnswered)',
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/lost-answers.test.ts',
      title: 'that takes too long rejects an add that was not sent, and is never sent later',
    },
  },
  {
    name: 'keys that were locked together are tried again one by one',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'this.#later(repeated, pause(retryDelayMs(first.tries, lockedKeyDelay)))',
        replace:
          'for (const one of repeated) {\n' +
          '      this.#later(new Map([one]), pause(retryDelayMs(first.tries, lockedKeyDelay)))\n    }',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/failing-keys.test.ts',
      title: 'keys that were locked together are tried again together, until only one is locked',
    },
  },
  {
    name: 'an iterator that has returned still waits for a key',
    edits: [
      {
        file: 'packages/queue/src/queue/held-iterator.ts',
        find: 'this.#core.dismiss(this)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/iterating.test.ts',
      title: 'return ends a next that waits, which takes no key afterwards',
    },
  },
  {
    name: 'an iterator that has returned keeps the key that was on its way',
    edits: [
      {
        file: 'packages/queue/src/queue/held-iterator.ts',
        find: 'if (!this.isStopping) return {',
        replace: 'return {',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/iterating.test.ts',
      title: 'return while a key is on its way to a next gives the key back',
    },
  },
  {
    name: 'an answer of a schema that says nothing is a match',
    edits: [
      {
        file: 'packages/queue/src/queue/schema.ts',
        find: 'if (value === undefined)',
        replace: 'if (answer === undefined)',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'is refused at add, naming the schema',
    },
  },
  {
    name: 'a key in a log brings the whole queue with it',
    edits: [
      {
        file: 'packages/queue/src/held/held-key.ts',
        find: "Symbol.for('nodejs.util.inspect.custom')",
        replace: "Symbol.for('none')",
      },
    ],
    finder: {
      file: 'packages/queue/test/held/held.test.ts',
      title: 'Held: in a log it is its key, without the queue behind it',
    },
  },
  {
    name: 'an add that a full queue refuses does not fail its transaction',
    edits: [
      {
        file: 'packages/queue/src/queue/queue-transaction.ts',
        find: "if (outcome === 'full') throw this.#core.fullError()",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transactions/within-sqlite.test.ts',
      title: 'a transaction that adds more than the queue may hold',
    },
  },
  {
    name: 'a call that cannot succeed in its transaction is to be repeated in it',
    edits: [
      {
        file: 'packages/sqlite/src/connection/errors.ts',
        find: "return code === 'SQLITE_BUSY_SNAPSHOT' || errcode === 517",
        replace: 'return code === errcode',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/transact.test.ts',
      title: 'a call that cannot succeed in its transaction is not retryable',
    },
  },
  {
    name: 'only the first of several transactions is seen to have committed',
    edits: [
      {
        file: 'packages/queue/src/leases/commit-watch.ts',
        find: '    this.#isRunning = false\n  }',
        replace: '  }',
      },
    ],
    finder: {
      file: 'tests/test/transactions/within-sqlite.test.ts',
      title: 'each of several transactions is seen to have committed',
    },
  },
  {
    name: 'a redaction whose promise rejects ends the process',
    edits: [
      {
        file: 'packages/queue/src/driver/describe-failure.ts',
        find: 'if (isPromise(answer)) answer.then(undefined, report)\n  else if',
        replace: 'if',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/last-error.test.ts',
      title: 'keeps nothing, and is reported',
    },
  },
  {
    name: 'what an async keyOf rejects with ends the process',
    edits: [
      {
        file: 'packages/core/src/keys/item.ts',
        find: 'if (isPromise(key)) key.then(undefined, () => undefined)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/core/test/item.test.ts',
      title: 'that is async is refused, and its rejection does not end the process',
    },
  },
  {
    name: 'a Held of another library that cannot be released fails as a program does',
    edits: [
      {
        file: 'packages/queue/src/foreign/foreign-queue.ts',
        find: "if (typeof held[verb] === 'function') return",
        replace: 'if (verb !== undefined) return',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/missing-methods.test.ts',
      title: 'Held: release and park are refused where the Held has none',
    },
  },
  {
    name: 'a mapping that gives no keys, such as an async one, drops the events of its objects silently',
    edits: [
      {
        file: 'packages/kubernetes/src/changed-keys.ts',
        find: 'if (Symbol.iterator in Object(all)) return',
        replace: 'if (all !== undefined) return',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/enqueue-on.test.ts',
      title: 'a mapping that returns',
    },
  },
  {
    name: 'what an async mapping rejects with ends the process',
    edits: [
      {
        file: 'packages/kubernetes/src/changed-keys.ts',
        find: 'if (isPromise(keys)) keys.then(undefined, this.#report)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/kubernetes/test/enqueue-on.test.ts',
      title: 'a mapping that returns',
    },
  },
  {
    name: 'a call that waits has the timeoutMs of a younger one that was sent',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'if (!job.isAnswered) earliest = Math.min(earliest, job.deadline)',
        replace: '{}',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/failing-keys.test.ts',
      title:
        'a call behind a locked key has its own timeoutMs, also while a younger one has no answer',
    },
  },
  {
    name: 'options that a layer does not have are ignored',
    edits: [{ file: delaying, find: 'given[name] !== inside[name]', replace: 'false' }],
    finder: {
      file: 'packages/queue/test/foreign/delays-around.test.ts',
      title: 'options that a layer around a queue of our own would ignore are refused',
    },
  },
]
