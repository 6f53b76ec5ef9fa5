import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the claims of a queue and of the leases of their keys, and the tests that find them. */
export const foundByTestsOfClaims: readonly FoundByTest[] = [
  {
    name: 'a lost run of a key that is claimed again is renewed with the new one',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-keeper.ts',
        find: 'return [...newest.values()]',
        replace: 'return [...helds]',
      },
      {
        file: 'packages/queue/src/leases/lease-keeper.ts',
        find: "newest.get(held.key) !== held && held.phase === 'held'",
        replace: 'newest.size === 0',
      },
    ],
    finder: {
      file: 'tests/test/conformance/queue-conformance-sqlite.test.ts',
      title: 'q-lease.taken-again',
    },
  },
  {
    name: 'a run whose finish is under way is lost to the next run of its key',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-keeper.ts',
        find: "newest.get(held.key) !== held && held.phase === 'held'",
        replace: 'newest.get(held.key) !== held',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/leases.test.ts',
      title: 'a finish under way whose key was claimed again is judged by its own answer',
    },
  },
  {
    name: 'a lease that was in doubt once is not after a later step of the clock',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'Math.max(this.#doubted.get(token) ?? now, this.#clockSteps.doubtedSince)',
        replace: '(this.#doubted.get(token) ?? now)',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'leaves the key to its holder as the first time',
    },
  },
  {
    name: 'a claim that fails lets a store forget that finishes fail',
    edits: [
      {
        file: 'packages/queue/src/driver/store-health.ts',
        find: '} else this.#failing.set(verb, {',
        replace: '} else if (this.#failing.clear() === undefined) this.#failing.set(verb, {',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/store-health.test.ts',
      title: 'claims and finishes that fail in turns are trouble, whatever else is answered',
    },
  },
  {
    name: 'a claim without an answer is looked for once',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-once.ts',
        find: 'releaseLate(core, caller, request.claimId)',
        replace: '{}',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/unknown-outcomes.test.ts',
      title: 'the keys of a claim that takes effect after it was looked for are given back',
    },
  },
  {
    name: 'keys that another session was faster to take delay the next one',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'this.#misses = 0\n        return',
        replace: 'return',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title: 'keys that another session was faster to take do not delay the next one',
    },
  },
  {
    name: 'a key that another session has locked delays those that this process adds',
    edits: [
      {
        file: 'packages/queue/src/core/queue-core.ts',
        find: 'this.claims.handOut(true)',
        replace: 'this.claims.handOut()',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title: 'a key that another session has locked does not delay other keys',
    },
  },
  {
    name: 'a key that another session has locked delays those that come during a claim',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'if (this.#misses === 1 || this.#hadNews) return',
        replace: 'if (this.#misses === 1) return',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title: 'a key that another session has locked does not delay other keys',
    },
  },
  {
    name: 'a key fails by the limiter of another layer, which got none before',
    edits: [
      { file: 'packages/queue/src/held/blank-held.ts', find: 'kept.policy = policy', replace: '' },
    ],
    finder: {
      file: 'packages/queue/test/queue/rate-limiting.test.ts',
      title: 'a key waits by the limiter of the layer that it was taken through',
    },
  },
  {
    name: 'an order of the caller learns of keys that were due before only after that of a done',
    edits: [
      {
        file: 'packages/memory/src/direct-verbs.ts',
        find: 'this.advanceTo(now)\n    const state = states.read(handle)',
        replace: 'const state = states.read(handle)',
      },
    ],
    finder: {
      file: 'packages/memory/test/ready-order.test.ts',
      title: 'push for keys that have become due comes before that of a key which is ready now',
    },
  },
  {
    name: 'a handler does not get how often its key has crashed',
    edits: [
      {
        file: 'packages/queue/src/worker/run-context.ts',
        find: 'this.crashes = held.crashes',
        replace: 'this.crashes = 0',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/contexts.test.ts',
      title: 'a handler gets the key and the token of its run',
    },
  },
  {
    name: 'handlers that once were slow keep a worker from claiming ahead',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'this.#sumMs += ms - this.#runMs[at]!',
        replace: 'this.#sumMs += ms',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-amount.test.ts',
      title: 'the latest 32 runs count, and the latest 32 claims, in any order',
    },
  },
  {
    name: 'a worker claims ahead more than a thousand keys',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-amount.ts',
        find: 'Math.min(autoMax, arriving, ',
        replace: 'Math.min(arriving, ',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetch-amount.test.ts',
      title: 'claims ahead at most a thousand keys, also of handlers that take no time',
    },
  },
  {
    name: 'a key whose worker is gone waits as without a limiter',
    edits: [
      {
        file: 'packages/queue/src/core/retry-plans.ts',
        find: '    if (this.own !== undefined) this.expire = { ...this.expire, plan: this.own }\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/leases.test.ts',
      title: 'lease end: the back-off is that of the limiter, without its bucket',
    },
  },
  {
    name: 'after a pause, keys that were claimed ahead are never given back',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-buffer.ts',
        find: '    this.#timer?.stop()\n    this.#timer = undefined\n',
        replace: '    this.#timer?.stop()\n',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'after a pause they are claimed, and given back, as before',
    },
  },
  {
    name: 'keys that were given back count as claimed ahead',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetch-buffer.ts',
        find: '    this.size -= helds.length\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'after a pause they are claimed, and given back, as before',
    },
  },
  {
    name: 'keys of short leases are claimed ahead for longer than their leases',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/prefetching.ts',
        find: 'Math.min(this.#amount.keepMs, leaseMs / 3)',
        replace: 'this.#amount.keepMs',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'of short leases they are given back after a third',
    },
  },
  {
    name: 'a key whose lease a claim found expired waits for the next heartbeat',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/next-due.ts',
        find: 'await this.leases.ends.end(leases)\n    this.isStale = true',
        replace: 'await this.leases.ends.end(leases)',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/late-answers.test.ts',
      title:
        'a key whose lease a claim found expired is handed out as soon as its delay has passed',
    },
  },
  {
    name: 'the error of a claim in parallel is lost',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'isAwaited) this.handOut()\n    } catch (error) {\n      this.#onError(error)',
        replace: 'isAwaited) this.handOut()\n    } catch {',
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/side-by-side.test.ts',
      title: 'a claim that fails while another is under way is reported, and its keys run',
    },
  },
  {
    name: 'a claim during which a clock was stepped is repeated at once, as often as that happens',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'this.#nextDue.now()\n      this.#onMiss()',
        replace: 'this.#nextDue.now()\n      this.#mustClaimAgain = true',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'claims ever more rarely while each claim meets another step, and soon after the last',
    },
  },
  {
    name: 'keys whose claim met a second step of a clock wait for a heartbeat',
    edits: [
      {
        file: 'packages/queue/src/batched/claims/claim-loop.ts',
        find: 'this.#nextDue.nextAt = this.#nextDue.now()\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'claims ever more rarely while each claim meets another step, and soon after the last',
    },
  },
  {
    name: 'a restored file gives out tokens again that were given out since the backup',
    edits: [
      {
        file: 'packages/sqlite/src/rows/store-row.ts',
        find: 'lastDrawn.get(this.#statements) ?? Number.MAX_SAFE_INTEGER',
        replace: 'lastDrawn.get(this.#statements) ?? 0',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/restored-tokens.test.ts',
      title: 'a backup that takes the place of a file gives out none of its tokens again',
    },
  },
  {
    name: 'a counter of tokens that was set back under an open connection is believed',
    edits: [
      {
        file: 'packages/sqlite/src/rows/store-row.ts',
        find: 'lastDrawn.set(this.#statements, this.#token)',
        replace: 'lastDrawn.set(this.#statements, 0)',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/restored-tokens.test.ts',
      title: 'a counter that was set back under an open connection gives out no token again',
    },
  },
  {
    name: 'tokens beyond the clock are set back to it',
    edits: [
      {
        file: 'packages/sqlite/src/rows/store-row.ts',
        find: 'this.raiseToken(Math.floor(systemClock.now() * 1_000))',
        replace: 'this.#token = Math.floor(systemClock.now() * 1_000)',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/restored-tokens.test.ts',
      title: 'a counter that is beyond the present is not set back',
    },
  },
  {
    name: 'in metrics, a claim that is answered after the worker has stopped ends a wait',
    edits: [
      {
        file: 'packages/metrics/src/queue/queue-record.ts',
        find: 'left > 0 || this.#holders.has(holder)',
        replace: 'left > 0',
      },
    ],
    finder: {
      file: 'packages/metrics/test/client-go.test.ts',
      title: 'a claim that is answered after the worker has stopped ends no wait',
    },
  },
  {
    name: 'a stored item that does not match the schema is reported with its code twice',
    edits: [
      {
        file: 'packages/queue/src/core/item-inspection.ts',
        find: 'textOf(cause).replace(',
        replace: '((text: string, ..._: string[]) => text)(textOf(cause), ',
      },
    ],
    finder: {
      file: 'packages/queue/test/queue/schema.test.ts',
      title: 'a stored item that does not match is parked, reported',
    },
  },
  {
    name: 'a queue that is closed asks on and on whether a transaction has committed',
    edits: [
      {
        file: 'packages/queue/src/leases/commit-watch.ts',
        find: 'if (!this.#isOpen(held)) this.#unknown.delete(token)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/commit-watch.test.ts',
      title: 'once its queue is closed',
    },
  },
  {
    name: 'a process whose store fails while it keeps an expired lease ends with an unhandled rejection',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'await calls.renew(doubtful',
        replace: 'void calls.renew(doubtful',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'is reported when it cannot be renewed',
    },
  },
]
