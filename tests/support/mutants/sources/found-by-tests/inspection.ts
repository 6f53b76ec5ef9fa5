import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the inspection and its operations, and the tests that find them. */
export const foundByTestsOfInspection: readonly FoundByTest[] = [
  {
    name: 'a record of the work of workers has the codes of the last one again',
    edits: [
      {
        file: 'packages/queue/src/worker/unsent-work.ts',
        find: '    this.#codes = new Map()\n    this.#runs',
        replace: '    this.#runs',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/unsent-work.test.ts',
      title: 'has what came after the last one, the failed runs in the order in which they ended',
    },
  },
  {
    name: 'a record that is put back is taken from the totals twice',
    edits: [
      {
        file: 'packages/queue/src/worker/unsent-work.ts',
        find: 'difference(this.#told, record)',
        replace: 'difference(record, this.#told)',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/unsent-work.test.ts',
      title: 'has what was put back, which came before',
    },
  },
  {
    name: 'the failed runs of a record that was put back are in each record after it',
    edits: [
      {
        file: 'packages/queue/src/worker/unsent-work.ts',
        find: '    this.#returned = []\n    return',
        replace: '    return',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/unsent-work.test.ts',
      title: 'has what was put back, which came before',
    },
  },
  {
    name: 'error codes that are all different fill the memory of a worker',
    edits: [
      {
        file: 'packages/queue/src/worker/unsent-work.ts',
        find: 'if (count === 0 && this.#codes.size === codesMax) return',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/unsent-work.test.ts',
      title: 'tells no more than 64 codes apart, and counts those on',
    },
  },
  {
    name: 'a record whose answer is late is sent again',
    edits: [
      {
        file: 'packages/queue/src/worker/work-tally.ts',
        find: " || SluiceError.is(error, 'ERR_TIMEOUT')",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/history.test.ts',
      title: 'is not sent again if it may still arrive',
    },
  },
  {
    name: 'unparking many keys forgets the failures of keys that are not parked',
    edits: [
      {
        file: 'packages/queue/src/inspect/key-selection.ts',
        find: 'unpark: ({ parked }) => parked',
        replace: 'unpark: () => true',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/selection.test.ts',
      title:
        'leaves keys alone that are not parked, with their failures, when it unparks the others',
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
    name: 'a key without a pending run shows the priority of an earlier one',
    edits: [
      {
        file: 'packages/queue/src/inspect/key-info.ts',
        find: 'isHeld ? row.claimedPriority : priorityDefault',
        replace: 'isHeld ? row.claimedPriority : row.priority',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'a key without a pending run has no priority left of earlier runs',
    },
  },
  {
    name: 'explain does not see that a delayed run is due before the lease of its key ends',
    edits: [
      {
        file: 'packages/queue/src/inspect/explain.ts',
        find: 'dueAt <= Math.max(leaseUntil, now)',
        replace: 'dueAt <= now',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'foresees what the end of a lease does to a key with a delayed run',
    },
  },
  {
    name: 'a pause leaves what was claimed ahead to be started',
    edits: [
      {
        file: 'packages/queue/src/inspect/queue-inspection.ts',
        find: "verb === 'pause' || verb === 'park'",
        replace: "verb === 'park'",
      },
    ],
    finder: {
      file: 'packages/queue/test/batched/prefetching.test.ts',
      title: 'releases them at once',
    },
  },
  {
    name: 'an operation waits for its store for ever',
    edits: [
      {
        file: 'packages/queue/src/inspect/queue-inspection.ts',
        find: 'return await calls.change(call)',
        replace: 'return await call()',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/operations-in-time.test.ts',
      title: 'is not pending for longer than timeoutMs, and its outcome is unknown then',
    },
  },
  {
    name: 'a verb of an operator fails for a key that is locked for a moment',
    edits: [
      {
        file: 'packages/queue/src/inspect/queue-inspection.ts',
        find: 'whenFree(timeoutMs, () => send(operate))',
        replace: 'send(operate)',
      },
    ],
    finder: {
      file: 'tests/test/verbs/locked-keys.test.ts',
      title: 'waits for a key that another session has locked',
    },
  },
  {
    name: 'keys that are only held use up the limit of removals',
    edits: [
      {
        file: 'packages/queue/src/inspect/key-selection.ts',
        find: 'dueAt !== never || failures + crashes > 0 || parked',
        replace: 'dueAt <= never || failures + crashes > 0 || parked',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/selection.test.ts',
      title: 'does not remove keys of which nothing is left but that they are held',
    },
  },
  {
    name: 'reading all pages of a queue keeps signals waiting',
    edits: [
      {
        file: 'packages/queue/src/inspect/queue-inspection.ts',
        find: 'await new Promise<void>(nextTurn)',
        replace: 'await undefined',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'an interruption ends a long list between two pages',
    },
  },
  {
    name: 'leases shows the held keys of one page only',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/leases.ts',
        find: 'cursor = page.cursor',
        replace: 'cursor = undefined',
      },
    ],
    finder: {
      file: 'packages/cli/test/seeing-work.test.ts',
      title: 'a lease is seen behind thousands of others, and behind thousands of ready keys',
    },
  },
  {
    name: 'on Redis, held keys are looked for among all keys',
    edits: [
      {
        file: 'packages/redis/src/verbs/list.ts',
        find: "if (state === 'processing' || state === 'dirty') {",
        replace: 'if (false) {',
      },
    ],
    finder: {
      file: 'packages/redis/test/held-keys.test.ts',
      title: 'are on the first page, however many other keys come before them',
    },
  },
  {
    name: 'on Redis, dirty keys are looked for among all held ones',
    edits: [
      {
        file: 'packages/redis/src/verbs/list.ts',
        find: "state === 'dirty' ? dueUntilNow : ",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/held-keys.test.ts',
      title: 'a page reads the dirty ones alone, and of the others no more than of any state',
    },
  },
  {
    name: 'on Redis, a page of held keys looks at all of them',
    edits: [
      {
        file: 'packages/redis/src/verbs/list.ts',
        find: 'Math.max(looksMax, limit + 1)',
        replace: 'all.length',
      },
    ],
    finder: {
      file: 'packages/redis/test/held-keys.test.ts',
      title: 'a page reads the dirty ones alone, and of the others no more than of any state',
    },
  },
  {
    name: 'an operation on many keys calls the driver with an empty batch',
    edits: [
      {
        file: 'packages/queue/src/inspect/key-selection.ts',
        find: 'left === 0 ? [] : ',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/selection.test.ts',
      title: 'the driver is called with no empty batch where a key comes after none was found',
    },
  },
  {
    name: 'queues are listed in the order of the store',
    edits: [
      {
        file: 'packages/queue/src/inspect/inspect-store.ts',
        find: '.startsWith(bookNamePrefix)).sort()',
        replace: '.startsWith(bookNamePrefix))',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/store-inspection.test.ts',
      title: 'lists queues and buckets by name, whatever order the store has',
    },
  },
  {
    name: 'a call that a close has cut off rejects in the words of the driver',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-calls.ts',
        find: 'this.#hasLeft && isCut(error)',
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/closed-meanwhile.test.ts',
      title: 'rejects with ERR_CLOSED if the queue is closed before the answer',
    },
  },
  {
    name: 'a tick that a close has cut off has an unknown outcome',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-calls.ts',
        find: '() => true,',
        replace: "(error) => !SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME'),",
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/closed-meanwhile.test.ts',
      title: 'a tick whose answer the close has cut off is ERR_CLOSED, and no trouble of the store',
    },
  },
  {
    name: 'a look into a store that was closed rejects in the words of the driver',
    edits: [
      {
        file: 'packages/queue/src/inspect/inspect-store.ts',
        find: 'if (this.#closed !== undefined) throw this.#closedError()\n      throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/closed-meanwhile.test.ts',
      title: 'calls of an inspected store reject with ERR_CLOSED if it is closed before the answer',
    },
  },
  {
    name: 'the mark of a move is shown as a worker',
    edits: [
      {
        file: 'packages/queue/src/inspect/queue-inspection.ts',
        find: 'holder !== moveHolder',
        replace: 'holder !== moveHolder || true',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/store-inspection.test.ts',
      title: 'does not show the mark of a move as a worker',
    },
  },
  {
    name: 'a selection in memory looks at all keys for every thousand',
    edits: [
      {
        file: 'packages/queue/src/inspect/page-size.ts',
        find: 'this.#max = pageKeysMax(driver)',
        replace: 'this.#max = batchKeysMax',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/selection.test.ts',
      title: 'a store in this process, whose pages take as long as the queue is, has larger ones',
    },
  },
  {
    name: 'a queue whose keys are never listed or moved can be made',
    edits: [
      {
        file: 'packages/core/src/keys/key.ts',
        find: 'if (!checked.startsWith(bookNamePrefix)) return checked',
        replace: 'if (checked !== undefined) return checked',
      },
    ],
    finder: {
      file: 'packages/core/test/key.test.ts',
      title: 'a queue has no name of those that exporters of metrics register under',
    },
  },
  {
    name: 'failed runs with a code are listed queue by queue',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/failures.ts',
        find: 'return all.sort((a, b) => b.at - a.at)',
        replace: 'return all',
      },
    ],
    finder: {
      file: 'packages/cli/test/run-rates.test.ts',
      title: 'the failed runs with a code are listed the newest first',
    },
  },
  {
    name: 'sluice ls reads a thousand keys to print three',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/ls.ts',
        find: 'isSifted ? pageMax : Math.min(wanted, pageMax)',
        replace: 'pageMax',
      },
    ],
    finder: {
      file: 'packages/cli/test/looking.test.ts',
      title: 'ls reads no more keys than it prints, and one to know of more',
    },
  },
]
