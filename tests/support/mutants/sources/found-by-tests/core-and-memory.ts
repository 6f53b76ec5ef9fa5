import type { FoundByTest } from '../source-mutant.ts'

/** Defects of core and of memory, and the tests that find them. */
export const foundByTestsOfCoreAndMemory: readonly FoundByTest[] = [
  {
    name: 'the path of a refused value goes through the object before it',
    edits: [
      {
        file: 'packages/core/src/keys/canonical-json.ts',
        find: "this.#append('}')\n    this.#depth = depth",
        replace: "this.#append('}')",
      },
    ],
    finder: {
      file: 'packages/core/test/canonical-json-refusals.test.ts',
      title: 'name nothing of an array or object that came before',
    },
  },
  {
    name: 'a base of 0 takes their delays from the other parts of a limiter after a thousand failures',
    edits: [
      {
        file: 'packages/core/src/limiter/plan.ts',
        find: 'Math.min(count, 60)',
        replace: 'count',
      },
    ],
    finder: {
      file: 'packages/core/test/plan.test.ts',
      title: 'exponential: base 0 is 0 for ever',
    },
  },
  {
    name: 'a bucket without a queue does not fill for an hour when the wall clock is set back by one',
    edits: [
      {
        file: 'packages/limiters/src/token-bucket.ts',
        find: 'return this.#clock.monotonicMs() + this.#offsetMs',
        replace: 'return this.#clock.now()',
      },
    ],
    finder: {
      file: 'packages/limiters/test/token-bucket-wait.test.ts',
      title: 'a wall clock that is set neither fills the bucket nor stops it from filling',
    },
  },
  {
    name: 'an option that is undefined is refused if its name is unknown',
    edits: [
      {
        file: 'packages/core/src/checks/check.ts',
        find: ' || (value as Readonly<Record<string, unknown>>)[name] === undefined',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/core/test/check.test.ts',
      title: 'a member that is undefined is absent, whatever its name',
    },
  },
  {
    name: 'in memory, keys that are listed by name are not restricted to the state that is asked for',
    edits: [
      {
        file: 'packages/memory/src/list-keys.ts',
        find: 'rows: rows.filter((row) => !state || row.state === state)',
        replace: 'rows',
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'list.keys.filtered',
    },
  },
  {
    name: 'in memory, delayed keys and those in back-off are counted up to one cap together',
    edits: [
      {
        file: 'packages/memory/src/list-keys.ts',
        find: 'delayed.someRows(2 * cap + 1)',
        replace: 'delayed.someRows(cap)',
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'counts.cap.exact',
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
      file: 'packages/core/test/transition-rules.test.ts',
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
    name: 'a tick forgets workers when failures expire',
    edits: [
      {
        file: 'packages/memory/src/memory-driver.ts',
        find: 'target.workers.deleteGone(now)',
        replace: 'target.workers.deleteGone(now + 86_400_000 - failuresExpireMs)',
      },
    ],
    finder: {
      file: 'packages/memory/test/sweeps.test.ts',
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
  {
    name: 'an add that a full queue has refused waits although a key has left the queue',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'owner?.soon.onRoom()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/adding-soon.test.ts',
      title:
        'addSoon: keys that leave a full queue in this process make room at once, one for each',
    },
  },
  {
    name: 'the time of a store that follows a given clock is not learned from its answers',
    edits: [
      {
        file: 'packages/queue/src/driver/store-time.ts',
        find: 'if (now > this.now()) this.#given?.atLeast(now)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title:
        'Time: keys of a store that is ahead of the clock that it was given are claimed on time',
    },
  },
  {
    name: 'an order of the caller that keeps its keys is asked for ever',
    edits: [
      {
        file: 'packages/memory/src/rows/ready-order.ts',
        find: 'left = Math.min(left - 1, this.#order.len())',
        replace: 'left = this.#order.len()',
      },
    ],
    finder: {
      file: 'packages/memory/test/ready-order.test.ts',
      title: 'an order that returns keys without removing them is not asked for ever',
    },
  },
  {
    name: 'a debounced add of a parked key does not say that it is parked',
    edits: [
      {
        file: 'packages/core/src/transitions/add.ts',
        find: "setDue(state, bounded, 'delay', seq)\n    outcome = 'moved'\n  }\n  return state.parked && state.token === noToken ? 'parked' : outcome",
        replace:
          "setDue(state, bounded, 'delay', seq)\n    outcome = 'moved'\n  }\n  return outcome",
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'park.adds.kept',
    },
  },
  {
    name: 'a run that is done and added again keeps the crashes of its key',
    edits: [
      {
        file: 'packages/core/src/transitions/finish.ts',
        find: "state.crashes = 0\n  if (delayMs > 0) addAfter(state, now + delayMs, 'delay'",
        replace: "if (delayMs > 0) addAfter(state, now + delayMs, 'delay'",
      },
    ],
    finder: {
      file: 'packages/memory/test/conformance.test.ts',
      title: 'crash.run-ended',
    },
  },
  {
    name: 'a release keeps the priority of a run that was cancelled',
    edits: [
      {
        file: 'packages/core/src/transitions/finish.ts',
        find: 'const priorityRose = dueAt !== never && priority',
        replace: 'const priorityRose = priority',
      },
    ],
    finder: {
      file: 'packages/core/test/transition-rules.test.ts',
      title: 'release restores the position',
    },
  },
  {
    name: 'a release sees the second run of an earlier claim',
    edits: [
      {
        file: 'packages/core/src/transitions/claim.ts',
        find: 'state.claimedLaterAt = never\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/core/test/transition-rules.test.ts',
      title: 'an earlier claim leaves nothing for a release',
    },
  },
  {
    name: 'an imported run of an idle key has the place of the last one',
    edits: [
      {
        file: 'packages/core/src/transitions/merge-row.ts',
        find: '!wasPending || readyAt < state.readyAt',
        replace: 'readyAt < state.readyAt',
      },
    ],
    finder: {
      file: 'packages/core/test/transfer.test.ts',
      title: 'not that of a run that has ended',
    },
  },
  {
    name: 'a release takes the token of a retry that was lost',
    edits: [
      {
        file: 'packages/core/src/driver/token-buckets.ts',
        find: 'this.#clear()\n      return 0',
        replace: 'return 0',
      },
    ],
    finder: {
      file: 'packages/core/test/token-buckets.test.ts',
      title: 'takes no token that the retry before it was lost for',
    },
  },
  {
    name: 'the steps of a history that are over stay in memory',
    edits: [
      {
        file: 'packages/core/src/driver/history.ts',
        find: 'for (const old of kept.keys()) if (old <= stepsGoneAt(now, resolution)) kept.delete(old)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/core/test/history.test.ts',
      title: 'stay in memory',
    },
  },
  {
    name: 'letters that were swapped in the name of an option are two slips',
    edits: [
      {
        file: 'packages/core/src/checks/check.ts',
        find: 'slips = Math.min(slips, beforeLast[j - 2]! + 1)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/core/test/check.test.ts',
      title: 'the closest name is the one with the fewest slips',
    },
  },
  {
    name: 'what an async function returns is no promise where a program has replaced Promise',
    edits: [
      {
        file: 'packages/core/src/checks/is-promise.ts',
        find: "typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'",
        replace: 'value instanceof Promise',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/replaced-promise.test.ts',
      title: 'a queue waits for the answers of its driver where a program has replaced Promise',
    },
  },
  {
    name: 'a loop that is stopped rejects with the AbortError of a function of Node',
    edits: [
      {
        file: 'packages/backoff/src/backoff-until.ts',
        find: 'isAbortOf(signal, error)',
        replace: 'signal.aborted && error === signal.reason',
      },
    ],
    finder: {
      file: 'packages/backoff/test/waits.test.ts',
      title: 'resolves when a function of Node that got its signal ends by that',
    },
  },
  {
    name: 'a poll that has timed out rejects with the AbortError of its condition',
    edits: [
      {
        file: 'packages/backoff/src/ask-condition.ts',
        find: 'isAbortOf(signal, error) ? signal.reason : error',
        replace: 'error',
      },
    ],
    finder: {
      file: 'packages/backoff/test/waits.test.ts',
      title: 'a wait rejects with the reason when a function of Node',
    },
  },
  {
    name: 'fake timers that began before stop queues',
    edits: [
      {
        file: 'packages/core/src/time/next-turn.ts',
        find: 'const { process } = globalThis as',
        replace: 'const { process } = {} as',
      },
    ],
    finder: { file: 'packages/core/test/next-turn.test.ts', title: 'the next turn comes where' },
  },
]
