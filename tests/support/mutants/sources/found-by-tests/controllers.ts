import type { FoundByTest } from '../source-mutant.ts'

const enqueueOn = 'packages/kubernetes/src/enqueue-on.ts'
const keepWatching = 'packages/kubernetes/src/keep-watching.ts'
const changedKeys = 'packages/kubernetes/src/changed-keys.ts'
const keyAdder = 'packages/kubernetes/src/key-adder.ts'
const mapping = 'packages/kubernetes/src/mapping.ts'
const resync = 'packages/queue/src/schedule/resync.ts'

function ofKubernetes(
  name: string,
  file: string,
  find: string,
  replace: string,
  title: string,
  tests = 'enqueue-on',
) {
  const finder = { file: `packages/kubernetes/test/${tests}.test.ts`, title }
  return { name, edits: [{ file, find, replace }], finder }
}

function ofResync(name: string, find: string, replace: string, title: string) {
  const finder = { file: 'packages/queue/test/schedule/resync.test.ts', title }
  return { name, edits: [{ file: resync, find, replace }], finder }
}

/** Defects of informers and resyncs, and the tests of the suite that find them. */
export const foundByTestsOfControllers: readonly FoundByTest[] = [
  ofKubernetes(
    'a deleted object adds no key',
    enqueueOn,
    "informer.on('delete', deleted)",
    '',
    'objects that are listed, added, changed and deleted become keys',
  ),
  ofKubernetes(
    'a changed object adds no key',
    enqueueOn,
    "informer.on('update', changed)",
    '',
    'objects that are listed, added, changed and deleted become keys',
  ),
  ofKubernetes(
    'a watch that failed is not begun again',
    keepWatching,
    'restart = undefined\n      start()',
    'restart = undefined',
    'a server that fails is asked again',
  ),
  ofKubernetes(
    'credentials that fail when a watch is begun again end the process',
    keepWatching,
    '.catch(failed)',
    '',
    'credentials that fail when a watch is begun again are reported',
  ),
  ofKubernetes(
    'the pauses of a watch that fails do not grow',
    keepWatching,
    'failures += 1',
    '',
    'a server that fails is asked again',
  ),
  ofKubernetes(
    'an informer whose first list failed counts as synced',
    keepWatching,
    'if (restart === undefined) resolveSynced(true)',
    'resolveSynced(true)',
    'it is synced when the first list is in the cache',
  ),
  ofKubernetes(
    'a worker waits forever for an informer that was stopped',
    keepWatching,
    'resolveSynced(false)',
    '',
    'an informer that is stopped before is not synced',
  ),
  ofKubernetes(
    'the stop of an informer does not wait for the keys that are being added',
    keyAdder,
    'await this.#adding',
    '',
    'a stop waits for the call in flight',
    'key-adder',
  ),
  ofKubernetes(
    'the stop of an informer leaves all keys that wait to addSoon, which drops most of them',
    keyAdder,
    'if (this.#pause !== undefined) {\n      this.#pause.stop()\n      this.#leave()\n    }',
    'this.#pause?.stop()\n    this.#leave()',
    'a stop adds what waits before it resolves',
    'key-adder',
  ),
  ofKubernetes(
    'a resync of an informer lists nothing',
    enqueueOn,
    'new Set(informer.list().flatMap((object) => keys.of(object)))',
    'new Set<string>()',
    'a resync adds every object of the cache once in each period',
  ),
  ofKubernetes(
    'a mapping that throws is not reported',
    changedKeys,
    'this.#report(error)\n      return []',
    'return []',
    'a mapping that throws is reported',
    'mapping',
  ),
  ofKubernetes(
    'the pauses of an informer grow for as long as the process runs',
    keepWatching,
    'if (clock.monotonicMs() - startedAt > steadyMs) failures = 0',
    '',
    'the pauses grow to half a minute, and are short again after a watch of more than a minute',
    'keep-watching',
  ),
  ofKubernetes(
    'each error of an informer begins a watch',
    keepWatching,
    'if (restart !== undefined) return\n',
    '',
    'two errors of one watch begin one watch',
    'keep-watching',
  ),
  ofKubernetes(
    'an informer that was stopped reports its last error',
    keepWatching,
    'if (isStopped) return\n    report',
    'report',
    'an error that comes after stop is not reported, and begins nothing',
    'keep-watching',
  ),
  ofKubernetes(
    'an informer goes on after stop',
    keepWatching,
    'await informer.stop()\n      // A watch that was being opened meanwhile is open after all.\n' +
      '      void starting.then(() => informer.stop())',
    '',
    'after stop nothing is watched and nothing is added',
  ),
  ofKubernetes(
    'owners count that do not control',
    mapping,
    '(all || reference.controller === true)',
    'true',
    'changed pods add their owners',
    'mapping',
  ),
  ofKubernetes(
    'owners of every group count',
    mapping,
    '(group === undefined || groupOf(reference.apiVersion) === group)',
    'true',
    'changed pods add their owners',
    'mapping',
  ),
  ofKubernetes(
    'a key is split after its name',
    mapping,
    ".indexOf('/')\n  if (slash === -1) return { name: key }",
    ".indexOf('-')\n  if (slash === -1) return { name: key }",
    'keys are split as they are put together',
    'mapping',
  ),
  ofKubernetes(
    'the owner that lost an object is not told',
    changedKeys,
    '...(this.#before.get(name) ?? []), ',
    '',
    'an object that changes its owner adds both owners',
    'mapping',
  ),
  ofKubernetes(
    'an error of onError ends the informer',
    enqueueOn,
    'watch = keepWatching(informer, clock, report)',
    'watch = keepWatching(informer, clock, onError)',
    'an error of onError ends nothing',
  ),
  ofKubernetes(
    'the keys of deleted objects are remembered for ever',
    changedKeys,
    'this.#before.delete(objectKey(object))',
    '',
    'an object that changes its owner adds both owners',
    'mapping',
  ),
  ofKubernetes(
    'an object that has its own key again goes on to add the one before',
    changedKeys,
    'this.#before.delete(name)',
    'return concerned',
    'an object that has its own key again adds no other one',
    'mapping',
  ),
  ofKubernetes(
    'an object without a key is an error',
    changedKeys,
    'this.#mapping(object) ?? []',
    'this.#mapping(object) as string',
    'an object that a mapping gives no key adds nothing',
    'mapping',
  ),
  ofKubernetes(
    'an informer that was stopped and serves another queue goes on to add to the first',
    enqueueOn,
    "informer.off('update', changed)",
    '',
    'after stop nothing is watched and nothing is added',
  ),
  ofKubernetes(
    'the resync of an informer goes on after stop',
    enqueueOn,
    'syncing?.stop(), ',
    '',
    'errors of a resync are reported, and after stop it adds nothing',
  ),
  ofKubernetes(
    'errors of the resync of an informer are not reported',
    enqueueOn,
    'onError: report,',
    'onError: () => {},',
    'errors of a resync are reported, and after stop it adds nothing',
  ),
  ofResync(
    'a resync adds everything at once',
    '(hashOf(text) / 2 ** 32) * everyMs',
    '0',
    'every item runs once in each period',
  ),
  ofResync(
    'turns are counted from each pass, and not from a moment that all processes share',
    'msUntilTurn(item, everyMs, clock.now())',
    'msUntilTurn(item, everyMs, 0)',
    'several processes ask for the same runs',
  ),
  ofResync(
    'a resync comes before changes',
    'delayMs, { priority })',
    'delayMs, { priority: 100 })',
    'a change comes before the resync',
  ),
  ofResync(
    'a pass adds its first batch only',
    'adds = []\n      await allOf(batch)',
    'adds = []\n      await allOf(batch)\n      break',
    'objects and lists that are read piece by piece',
  ),
  ofResync(
    'an item that the queue refuses ends the pass of a resync',
    "if (!SluiceError.is(error, 'ERR_INVALID_INPUT')) throw error",
    'throw error',
    'an item that the queue refuses is reported',
  ),
  ofResync(
    'a list that fails ends the resync',
    'report(error)\n        const ms',
    'return report(error)\n        const ms',
    'a list that fails is tried again',
  ),
  {
    name: 'an error of onError ends the resync',
    edits: [
      {
        file: 'packages/core/src/call-listener.ts',
        find: '    failed(failure)\n',
        replace: '    throw failure\n',
      },
    ],
    finder: {
      file: 'packages/queue/test/schedule/resync.test.ts',
      title: 'an error of onError does not end it',
    },
  },
  ofResync(
    'a list that fails is tried again in the next period',
    'Math.min(retryMs.first * 2 ** failures, retryMs.longest, everyMs)',
    'everyMs',
    'a list that fails is tried again',
  ),
  ofResync(
    'a resync reports that its queue has ended',
    'if (isOver(error)) return',
    '',
    'of the queue, and by stop',
  ),
  ofResync(
    'a resync goes on after stop',
    'state.isStopped = true',
    '',
    'of the queue, and by stop',
  ),
  {
    name: 'a requeue of false counts as a failure',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-result.ts',
        find: '(requeue ?? delayMs === undefined) === false',
        replace: 'delayMs !== undefined && requeue !== false',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: 'a handler may decide by a condition whether its key comes back',
    },
  },
  ofKubernetes(
    'keys of a mapping that no queue can store are added',
    changedKeys,
    '.filter((key) => this.#isKey(key))',
    '',
    'a key of a mapping that no queue can store is reported, and the others are added',
    'mapping',
  ),
  {
    name: 'a limiter whose promise rejects ends the process',
    edits: [
      {
        file: 'packages/queue/src/queue/limiter-in-queue.ts',
        find: 'Promise.resolve(ms).catch(this.#report)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/core/tracing.test.ts',
      title: 'is reported, and ends nothing',
    },
  },
  {
    name: 'the stop of a resync does not wait for its pass',
    edits: [
      {
        file: resync,
        find: 'state.endWait()\n    await ended',
        replace: 'state.endWait()',
      },
    ],
    finder: {
      file: 'packages/queue/test/schedule/resync.test.ts',
      title: 'and none after stop',
    },
  },
  {
    name: 'a resync tries again after its queue was shut down',
    edits: [
      {
        file: resync,
        find: "SluiceError.is(error, 'ERR_SHUT_DOWN') || ",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/schedule/resync.test.ts',
      title: 'of the queue, and by stop',
    },
  },
  {
    name: 'a resync has the time of its passes on top of its period',
    edits: [
      {
        file: resync,
        find: 'everyMs / passesPerPeriod - (clock.monotonicMs() - startedAt)',
        replace: 'everyMs / passesPerPeriod',
      },
    ],
    finder: {
      file: 'packages/queue/test/schedule/resync.test.ts',
      title: 'however long they take',
    },
  },
  {
    name: 'an onExhausted that returns another word parks the key silently',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: "this.#end(checkOneOf('onExhausted(held)', end, ['park', 'drop']))",
        replace: "this.#end(end === 'drop' && checkOneOf !== undefined ? 'drop' : 'park')",
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: 'an onExhausted that returns another word parks the key, and that is reported',
    },
  },
  {
    name: 'an onExhausted that has finished the key itself is reported',
    edits: [
      {
        file: 'packages/queue/src/worker/handler-run.ts',
        find: 'if (this.#mayFinish()) this.#end(checkOneOf(',
        replace: 'this.#end(checkOneOf(',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/controller.test.ts',
      title: 'an onExhausted that has finished the key itself returns nothing',
    },
  },
]
