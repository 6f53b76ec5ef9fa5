import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the queue, and the tests of the suite that find them. */
export const foundByTestsOfQueues: readonly FoundByTest[] = [
  {
    name: 'an add that waits for the next batch holds up adds of every priority',
    edits: [
      {
        file: 'packages/queue/src/batched/waiting-jobs.ts',
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
    name: 'a timeout of fetch is stored under a number',
    edits: [
      {
        file: 'packages/queue/src/driver/describe-failure.ts',
        find: "Object.prototype.toString.call(error) === '[object DOMException]'",
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/last-error.test.ts',
      title: 'a timeout or an abort of the platform has its name and not its legacy number',
    },
  },
  {
    name: 'a queue that was never used does not open its store for a transaction',
    edits: [
      {
        file: 'packages/queue/src/queue/queue-transaction.ts',
        find: 'return then(opening, () => send(step)) as Awaitable<readonly (Reply | Failure)[]>',
        replace: 'void opening\n      return send(step)',
      },
      {
        file: 'packages/queue/src/driver/driver-calls.ts',
        find: 'if (!this.handle.isOpen) return this.opened(() => this.call(verb, request, send))',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transactions/within-postgres.test.ts',
      title: 'may be an add in a transaction, which opens the store',
    },
  },
  {
    name: 'trouble while a key is parked ends the waiter',
    edits: [
      {
        file: 'packages/queue/src/core/item-inspection.ts',
        find: 'void giveBack(held, () => held.park(problem))',
        replace: 'await held.park(problem)',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/given-back-keys.test.ts',
      title: 'trouble while a key is parked ends no worker',
    },
  },
  {
    name: 'an older item that was added soon is stored last',
    edits: [
      {
        file: 'packages/queue/src/queue/soon-buffer.ts',
        find: 'if (line !== undefined) {',
        replace: 'if (line !== undefined && this.#isFinal) {',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding-soon.test.ts',
      title: 'the item added last wins, also after failed attempts in between',
    },
  },
  {
    name: 'a step of the clock goes unnoticed',
    edits: [
      {
        file: 'packages/queue/src/leases/clock-steps.ts',
        find: 'this.count += 1\n    this.#onStep()',
        replace: 'this.#steppedAt = -Infinity',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'hands out no key of a healthy holder',
    },
  },
  {
    name: 'what a late claim brings is handed out',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'const claims = brought.filter(mayStart)',
        replace: 'const claims = brought',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'the answer of a claim that comes too late',
    },
  },
  {
    name: 'an answer that was overtaken puts off a due key',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/next-due.ts',
        find: 'number < this.#lastAnswered ? Math.min(this.nextAt, nextAt) : nextAt',
        replace: 'nextAt',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title: 'an answer that was overtaken by a later one delays no key',
    },
  },
  {
    name: 'the next batch leaves before the callers of the last one go on',
    edits: [
      {
        file: 'packages/queue/src/batched/batcher.ts',
        find: 'turn < callerTurns',
        replace: 'turn < 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/batches.test.ts',
      title: 'travel with those that wait',
    },
  },
  {
    name: 'a limiter that fails at a retry is silent without a queue with rate limits',
    edits: [
      {
        file: 'packages/queue/src/queue/limiter-in-queue.ts',
        find: 'new LimiterInQueue(limiter, name, core.plans.failed)',
        replace: 'new LimiterInQueue(limiter, name, () => undefined)',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/tracing.test.ts',
      title: 'a limiter that fails at a retry is reported',
    },
  },
  {
    name: 'counts of failures that have expired are deleted a hundred in ten seconds',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/next-due.ts',
        find: 'if (reply.swept >= tickLimit) this.#sweepOn()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/idle-workers.test.ts',
      title: 'that have expired are swept away in steps',
    },
  },
  {
    name: 'a lease that is lost after a rollback goes unnoticed',
    edits: [
      {
        file: 'packages/queue/src/leases/commit-watch.ts',
        find: 'else held.mayBeGivenBack = false',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transactions/within-sqlite.test.ts',
      title: 'commit together, and a lease that is lost later is reported as usual',
    },
  },
  {
    name: "done does not tell the user's limiter to forget",
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: "if (finish.as === 'done' && finish.forget && outcome !== 'lost') this.plans.forget(held)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/forgetting.test.ts',
      title: 'is called with forget by',
    },
  },
  {
    name: 'a slow answer makes the time of the store seem earlier',
    edits: [
      {
        file: 'packages/queue/src/driver/store-time.ts',
        find: 'if (known !== undefined && highest > known + driftMs && lowest <= known) return\n    this.#offsetMs = highest',
        replace: 'this.#offsetMs = lowest',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title: 'a key that is due is handed out on time though an answer was late',
    },
  },
  {
    name: 'a given clock is estimated from answers',
    edits: [
      {
        file: 'packages/queue/src/driver/store-time.ts',
        find: 'if (this.#isGiven) {',
        replace: 'if (this.#isGiven && this.#offsetMs === undefined) {',
      },
      {
        file: 'packages/queue/src/driver/store-time.ts',
        find: 'if (known !== undefined && highest > known + driftMs && lowest <= known) return\n    this.#offsetMs = highest',
        replace: 'this.#offsetMs = lowest',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title: 'under a given clock it is that of the clock',
    },
  },
  {
    name: 'an answer that is lost while the store opens is taken for that of the claim',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: "if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) return error",
        replace: 'if (error !== undefined) return error',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/lost-answers.test.ts',
      title: 'that is cut is no unknown outcome',
    },
  },
  {
    name: 'a renewal without an answer is waited for',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-keeper.ts',
        find: 'if (this.#sentAt !== undefined && this.#realMs() - this.#sentAt < attemptMs(this.#leaseMs))',
        replace: 'if (this.#sentAt !== undefined)',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/leases.test.ts',
      title: 'a silent connection costs none, if the others answer',
    },
  },
  {
    name: 'a close waits for a store that does not answer',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'await endsBy(answeredOrEnded, endAt - leaveMs - settleMs)',
        replace: 'await answeredOrEnded',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/ends.test.ts',
      title: 'ms of grace comes within two seconds more',
    },
  },
  {
    name: 'a close gives up before it reads the answer of a store after it was held up',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'if (isLast) resolve(false)',
        replace: 'if (!isLast) resolve(false)',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/outages.test.ts',
      title: 'a process that was held up while it closed reads the answer of the store',
    },
  },
  {
    name: 'idle processes on one SQLite file wake each other',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/next-due.ts',
        find: 'registers ? tally?.dueWorker(handle.clock.monotonicMs(), beatMs) : undefined',
        replace: 'tally?.worker()',
      },
      {
        file: 'packages/sqlite/src/connection/wake-signal.ts',
        find: 'if (last === this.#lastPosition) return false',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/load/idle.test.ts',
      title: 'idle processes on one store',
    },
  },
  {
    name: 'a store that cannot be opened is waited for in silence',
    edits: [
      {
        file: 'packages/queue/src/driver/error-reports.ts',
        find: 'else if (printed.isNew(error)) printLine(queue, textOf(error))',
        replace: 'else if (!printed.isNew(error)) printLine(queue, textOf(error))',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/unheard-errors.test.ts',
      title: 'are one line on stderr, once a minute for each code',
    },
  },
  {
    name: 'addMany of an array with holes never answers',
    edits: [
      {
        file: 'packages/queue/src/queue/plain-queue.ts',
        find: 'Array.from(items, (item) => this.#encoded(item, priority, trace))',
        replace: 'items.map((item) => this.#encoded(item, priority, trace))',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding-many.test.ts',
      title: 'an array with holes is refused, and nothing of it is added',
    },
  },
  {
    name: 'addMany is refused before all its keys are answered',
    edits: [
      {
        file: 'packages/queue/src/batched/many.ts',
        find: 'this.#error ??= error\n',
        replace: 'this.#resolve(Promise.reject(error))\n',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding-many.test.ts',
      title: 'is refused once all its keys are answered: those that fit have been added by then',
    },
  },
  {
    name: 'an add overtakes one of another key that waits for its turn',
    edits: [
      {
        file: 'packages/queue/src/batched/add-batcher.ts',
        find: 'return request !== undefined && isPlain(request)',
        replace: 'return request === undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/batches.test.ts',
      title: 'two operations on one key never share a batch, and take effect in their order',
    },
  },
  {
    name: 'the iterator of a queue cannot be looped over itself',
    edits: [
      {
        file: 'packages/queue/src/queue/held-iterator.ts',
        find: '[Symbol.asyncIterator](): this {',
        replace: 'itself(): this {',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/iterating.test.ts',
      title: 'a loop over the iterator goes on after the keys that were taken from it',
    },
  },
  {
    name: 'a thrown null is stored as an error named object',
    edits: [
      {
        file: 'packages/queue/src/driver/describe-failure.ts',
        find: 'error === null ? String(error) : typeof error',
        replace: 'typeof error',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/held.test.ts',
      title: 'retry: any thrown value is stored as an error as far as possible',
    },
  },
]
