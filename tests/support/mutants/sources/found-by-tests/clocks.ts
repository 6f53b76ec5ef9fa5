import type { FoundByTest } from '../source-mutant.ts'

/** Defects of clocks, timers, rates and random names, and the tests that find them. */
export const foundByTestsOfClocks: readonly FoundByTest[] = [
  {
    name: 'a timer of more than 24 days wakes the process every millisecond',
    edits: [
      {
        file: 'packages/core/src/time/system-clock.ts',
        find: 'Math.min(Math.ceil(ms), timerMsMax)',
        replace: 'Math.ceil(ms)',
      },
    ],
    finder: {
      file: 'packages/core/test/system-clock.test.ts',
      title: 'beyond what the runtime holds do not fire at once, nor wake the process',
    },
  },
  {
    name: 'after an outage of the store, the rates of top are averages over it for a minute',
    edits: [
      {
        file: 'packages/cli/src/rows/run-rates.ts',
        find: ' || (first?.at ?? at) < at - windowMs - slackMs',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/run-rates.test.ts',
      title: 'a rate does not go back beyond a time that nothing was read in',
    },
  },
  {
    name: 'a page without TLS cannot make a queue',
    edits: [
      {
        file: 'packages/queue/src/environment/environment.ts',
        find: 'if (crypto.randomUUID !== undefined) return',
        replace: 'return',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/random-name.test.ts',
      title: 'a page without TLS, which has no randomUUID, has random names too',
    },
  },
  {
    name: 'with a clock that begins at the epoch, resync leaves out the first turn of items',
    edits: [
      {
        file: 'packages/queue/src/schedule/resync.ts',
        find: '(((now - phaseMs) % everyMs) + everyMs) % everyMs',
        replace: '(now - phaseMs) % everyMs',
      },
    ],
    finder: {
      file: 'packages/queue/test/schedule/resync.test.ts',
      title: 'a clock that begins at the epoch costs no item its first turn',
    },
  },
  {
    name: 'a step forward of the clock of the store alone is not noticed',
    edits: [
      {
        file: 'packages/queue/src/leases/clock-steps.ts',
        find: 'least > last.most + this.#stepMs || ',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'a step of the store alone hands out no key of a healthy holder',
    },
  },
  {
    name: 'of two keys that cannot be renewed, one is believed to be held when its lease has ended',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-keeper.ts',
        find: '      }\n    }\n    this.#watchDeadline()\n  }\n}',
        replace: '      }\n    }\n  }\n}',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/leases.test.ts',
      title: 'Leases: of two keys that cannot be renewed, each signal is aborted in time',
    },
  },
  {
    name: 'without a random part, jittered makes of an infinite delay none',
    edits: [
      {
        file: 'packages/limiters/src/jittered.ts',
        find: 'clampNs(nsOfMs(ms))',
        replace: 'nsOfMs(ms)',
      },
    ],
    finder: {
      file: 'packages/limiters/test/composed-limiters.test.ts',
      title: 'Infinity is the longest delay when it is jittered, and 0 stays 0',
    },
  },
  {
    name: 'the drift of a clock is a step to a queue with short leases',
    edits: [
      {
        file: 'packages/queue/src/leases/clock-steps.ts',
        find: 'Math.max(stepMsMin, this.leaseMs / 4)',
        replace: 'this.leaseMs / 4',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'Time: what is a step',
    },
  },
  {
    name: 'a small difference of clocks is a step to a queue with long leases',
    edits: [
      {
        file: 'packages/queue/src/leases/clock-steps.ts',
        find: 'Math.max(stepMsMin, this.leaseMs / 4)',
        replace: 'stepMsMin',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'Time: what is a step',
    },
  },
  {
    name: 'a step of the wall clock counts where the store does not follow it',
    edits: [
      {
        file: 'packages/queue/src/leases/clock-steps.ts',
        find: "if (driver.capabilities.time === 'monotonic') return",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/leases/clock-steps.test.ts',
      title: 'Time: what is a step',
    },
  },
  {
    name: 'an expired lease of a key that is being given back is extended by no time, and found expired at once',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'await calls.renew(doubtful, doubtMs || leaseMs)',
        replace: 'await calls.renew(doubtful, doubtMs)',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'stays with its process for another lease, and for three at most',
    },
  },
  {
    name: 'a key that cannot be given back is kept from all others for ever',
    edits: [
      {
        file: 'packages/queue/src/leases/lease-ends.ts',
        find: 'if (doubtMs === 0 && returning.size === 0)',
        replace: 'if (doubtMs === 0)',
      },
    ],
    finder: {
      file: 'packages/queue/test/held/late-hand-outs.test.ts',
      title: 'stays with its process for another lease, and for three at most',
    },
  },
]
