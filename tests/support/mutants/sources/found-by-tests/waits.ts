import type { FoundByTest } from '../source-mutant.ts'

/** Defects of waits and delays, and the tests that find them. */
export const foundByTestsOfWaits: readonly FoundByTest[] = [
  {
    name: 'a key that was delayed while it was held is handed out late in memory',
    edits: [
      {
        file: 'packages/queue/src/held/held-key.ts',
        find: "outcome !== 'idle')",
        replace: "outcome === 'ready')",
      },
    ],
    finder: {
      file: 'tests/test/conformance/queue-conformance.test.ts',
      title: 'q-wake.delayed',
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
      file: 'packages/queue/test/foreign/missing-methods.test.ts',
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
    name: 'an aborted get waits for the check of an item',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'if (!this.waiters.remove(waiter) && this.inspection === undefined) return',
        replace: 'if (!this.waiters.remove(waiter)) return',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'an aborted get gives back a key that was still being checked',
    },
  },
  {
    name: 'a process ends while a get waits for a key that is delayed in it',
    edits: [
      {
        file: 'packages/queue/src/foreign/process-delays.ts',
        find: 'this.#alive.ref()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/living.test.ts',
      title: 'is done by every wait, unless ref is false, and by nothing else',
    },
  },
  {
    name: 'a limiter around a delaying queue has delays of its own',
    edits: [
      {
        file: 'packages/queue/src/foreign/adapted-queue.ts',
        find: 'this.#addAfter = queue.addAfter?.bind(queue)',
        replace: 'this.#addAfter = undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/limiter-around.test.ts',
      title: 'adds by the addAfter of the queue within, if it has one',
    },
  },
  {
    name: 'a retry in a queue with delays in its store is dropped by a shutdown',
    edits: [
      {
        file: 'packages/queue/src/foreign/adapted-queue.ts',
        find: 'else keyOfItem(item, this.adapted.keyOf)',
        replace: 'else super.refuseWhenEnding(item)',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/limiter-around.test.ts',
      title: 'leaves it to the queue within whether it takes a retry after a shutdown',
    },
  },
  {
    name: 'a worker that stops does not wait until keys that it did not start are given back',
    edits: [
      {
        file: 'packages/queue/src/worker/create-worker.ts',
        find: 'this.stopped.then(release, release)',
        replace: 'Promise.all([this.stopped.catch(() => undefined), release()])',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'a worker that stops waits until a key that was still being checked is given back',
    },
  },
  {
    name: 'a put-back that fails once is not tried again',
    edits: [
      {
        file: 'packages/queue/src/held/give-back.ts',
        find: 'owner.calls.reportTrouble(error)\n          continue',
        replace: 'owner.calls.reportTrouble(error)\n        return',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/given-back-keys.test.ts',
      title: 'because its getter gave up is given back through trouble',
    },
  },
  {
    name: 'a closed queue keeps its process alive for the pause of an outage',
    edits: [
      {
        file: 'packages/queue/src/driver/retry-gate.ts',
        find: 'if (!this.#line.some(({ isRef }) => isRef)) this.#timer?.unref()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/retry-gate.test.ts',
      title: 'the pause keeps the process alive only while an attempt that does so waits',
    },
  },
  {
    name: 'a store in trouble is asked without a pause',
    edits: [
      {
        file: 'packages/queue/src/driver/retry-gate.ts',
        find: 'if (!this.#isClosed) return undefined',
        replace: 'return undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/automatic-attempts.test.ts',
      title: 'a worker whose key falls due then attempts two calls a second at most',
    },
  },
  {
    name: 'a heartbeat that failed has asked when the next key is due',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/next-due.ts',
        find: 'this.#tickedAt = -Infinity\n      this.isStale = true',
        replace: 'this.#tickedAt = -Infinity',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/failed-heartbeats.test.ts',
      title:
        'a key that is delayed is run on time though a heartbeat failed and the next one is not answered',
    },
  },
  {
    name: 'a heartbeat that failed is not repeated before the next one',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: "() => this.#core.phase !== 'open',",
        replace: '() => true,',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/history.test.ts',
      title: 'is sent again if nothing was done',
    },
  },
  {
    name: 'leaving a loop over a wrapped queue releases a key whose retry is under way',
    edits: [
      {
        file: 'packages/queue/src/foreign/adapted-queue.ts',
        find: 'if (last instanceof AdaptedHeld) await last.answered',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/foreign/missing-methods.test.ts',
      title:
        'Held: leaving a loop waits for a retry that is under way, and does not release its key',
    },
  },
  {
    name: 'leases of keys that were claimed ahead end like those of keys that ran',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'owner?.claims.giveBackExpired?.()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'no crash is counted of keys of another queue object on the same driver',
    },
  },
  {
    name: 'a lease ends while its key, which never ran, is given back',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'doubtMs > 0 || returning.has(token)',
        replace: 'doubtMs > 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'stays with its process for another lease, and for three at most',
    },
  },
  {
    name: 'a queue object ends the lease of a key that it runs',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'running.has(token) ||',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'no crash is counted of a key that runs while another handler blocks the event loop',
    },
  },
  {
    name: 'a queue object ends the leases of another one that was blocked with it',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'of calls.peers',
        replace: 'of [calls]',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'no crash is counted of keys of another queue object on the same driver',
    },
  },
  {
    name: 'a drain is not checked when another queue object takes a key',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'if (this.peers.size > 1) this.onTaken()\n    else this.soon.onRoom()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/draining.test.ts',
      title: 'Shutdown: ends when another queue object takes the last key',
    },
  },
  {
    name: 'a key whose item was still being checked is handed out by a queue that closes',
    edits: [
      {
        file: 'packages/queue/src/core/item-inspection.ts',
        find: "waiter.isAborted || phase === 'closing' || phase === 'closed'",
        replace: 'waiter.isAborted',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'a close gives back a key that was still being checked',
    },
  },
  {
    name: 'a drain is not checked when a key is cancelled',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'this.onTaken()\n    return outcome',
        replace: 'return outcome',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/draining.test.ts',
      title: 'Shutdown: ends when its last key is cancelled',
    },
  },
  {
    name: 'failed runs are printed by their own code, and not by that of the cause',
    edits: [
      {
        file: 'packages/queue/src/driver/remarks.ts',
        find: 'described?.code',
        replace: 'end',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/failures-shown.test.ts',
      title: 'is told apart by the code of its cause, which the line shows',
    },
  },
  {
    name: 'errors that are the causes of each other are told again and again',
    edits: [
      {
        file: 'packages/queue/src/driver/describe-failure.ts',
        find: ' || through.includes(reason)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/last-error.test.ts',
      title: 'errors that are the causes of each other are told once',
    },
  },
  {
    name: 'crashes before a run count for maxFailures',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'return failures - crashes + 1 >=',
        replace: 'return failures + 1 >=',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: 'Crashes: maxFailures counts no crash that came before',
    },
  },
  {
    name: 'a drain does not ask whether other processes have taken the last key',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'lifecycle.isDraining ? drainPollMs : never',
        replace: 'never',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/draining.test.ts',
      title: 'Shutdown: ends within a second after another process has taken the last key',
    },
  },
  {
    name: 'a requeue that is no boolean is taken for false',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-result.ts',
        find: '(requeue ?? delayMs === undefined) === false',
        replace: 'requeue === false || delayMs !== undefined',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/handler-results.test.ts',
      title: 'a result that means nothing counts as a failure',
    },
  },
  {
    name: 'a shutdown waits for the store without an end',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'await inTime(at, core.calls.options.timeoutMs',
        replace: 'await inTime(at, core.calls.options.timeoutMs * 1e6',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/outages.test.ts',
      title: 'a shutdown does not wait longer than timeoutMs, and takes effect',
    },
  },
  {
    name: 'a drain that could not be checked goes on asking the store',
    edits: [
      {
        file: 'packages/queue/src/core/lifecycle.ts',
        find: 'this.#drainers.delete(drainer)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/draining.test.ts',
      title: 'rejects once, and the store is not asked about it again',
    },
  },
]
