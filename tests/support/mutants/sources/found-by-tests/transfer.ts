import type { FoundByTest } from '../source-mutant.ts'

/** Defects of moves, exports and imports, and the tests that find them. */
export const foundByTestsOfTransfer: readonly FoundByTest[] = [
  {
    name: 'an export from SQLite waits for other processes that write',
    edits: [
      {
        file: 'packages/sqlite/src/verbs/transfer.ts',
        find: 'lastToken: () => read(',
        replace: 'lastToken: () => write(',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/lock-waits.test.ts',
      title: 'the last token is read at once while the lock is held',
    },
  },
  {
    name: 'a process uses no queue first while the memory of its cluster is full',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: "tokens: ['#!lua flags=allow-oom'",
        replace: "tokens: ['#!lua'",
      },
    ],
    finder: {
      file: 'packages/redis/test/queues.test.ts',
      title: 'have their tokens raised while the memory is full',
    },
  },
  {
    name: 'a move onto the same store deletes its keys',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: "if ((await moveMarkOf(to, queue))['moveId'] === moveId) {",
        replace: 'if (false) {',
      },
    ],
    finder: {
      file: 'tests/test/transfer/refused-moves.test.ts',
      title: 'a target that is the source by another address is refused, and nothing is changed',
    },
  },
  {
    name: 'a queue without a name is moved to where no queue object can be made for it',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: "(durable || shared) && names.includes('')",
        replace: 'false',
      },
    ],
    finder: {
      file: 'tests/test/transfer/refused-moves.test.ts',
      title: 'a queue without a name is not moved to a store where all have one',
    },
  },
  {
    name: 'a move ends before its target is closed',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'await to.leave()',
        replace: 'void to.leave()',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'a source that cannot be closed does not keep the target open',
    },
  },
  {
    name: 'a move raises fencing numbers only before it moves keys',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'given out more tokens.\n    await this.#raiseTokens()',
        replace: 'given out more tokens.',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'fencing numbers stay above those of a source that is resumed',
    },
  },
  {
    name: 'an import may raise fencing numbers to 2^53',
    edits: [
      {
        file: 'packages/queue/src/transfer/transfer-lines.ts',
        find: 'const counterMax = 2 ** 52',
        replace: 'const counterMax = 2 ** 53',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'a last token of',
    },
  },
  {
    name: 'a move whose source cannot be closed leaves its target open',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: '    } finally {\n      await to.leave()\n    }',
        replace: '      await to.leave()\n    } finally {\n    }',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'a source that cannot be closed does not keep the target open',
    },
  },
  {
    name: 'moving queues does not say that workers vanished',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: '          error: vanished,\n',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'held keys are awaited, and those whose holders vanished are ended',
    },
  },
  {
    name: 'an export of many keys keeps the event loop from turning',
    edits: [
      {
        file: 'packages/queue/src/transfer/export-queue.ts',
        find: 'await new Promise<void>(nextTurn)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'the rest of the process goes on between the pages of a long queue',
    },
  },
  {
    name: 'an import of many keys keeps the event loop from turning',
    edits: [
      {
        file: 'packages/queue/src/transfer/import-queue.ts',
        find: 'await new Promise<void>(nextTurn)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'the rest of the process goes on between the pages of a long queue',
    },
  },
  {
    name: 'a move of many keys keeps the event loop from turning',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'await new Promise<void>(nextTurn)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'the rest of the process goes on between the pages of a long queue',
    },
  },
  {
    name: 'an add that is repeated on a new Redis primary replaces the item of a later one',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: 'if isReplay and not isNew and isLater then',
        replace: 'if isReplay and not isNew then',
      },
    ],
    finder: {
      file: 'packages/redis/test/new-primary.test.ts',
      title: 'keeps the item of a key that was added later than the add that is repeated',
    },
  },
  {
    name: 'an export waits for a store that does not answer',
    edits: [
      {
        file: 'packages/queue/src/transfer/export-queue.ts',
        find: 'await calls.inquire(() => transfer.lastToken())',
        replace: 'await transfer.lastToken()',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'a store that does not answer does not keep an export or an import waiting',
    },
  },
  {
    name: 'an import waits for a store that does not answer',
    edits: [
      {
        file: 'packages/queue/src/transfer/import-queue.ts',
        find: 'await change(send)',
        replace: 'await send()',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'a store that does not answer does not keep an export or an import waiting',
    },
  },
  {
    name: 'a move gives up when a store is in trouble before its first queue',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'await throughTrouble(from, signal, begin, () => 0)',
        replace: 'await begin()',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-through-failover.test.ts',
      title: 'failed for a while',
    },
  },
  {
    name: 'an import takes the last of two lines of a key',
    edits: [
      {
        file: 'packages/queue/src/transfer/import-queue.ts',
        find: '|| batch.has(line.row.key)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'a key that comes twice is merged with itself',
    },
  },
  {
    name: 'a move that goes on does not know what was decided before',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'there.paused ? earlier : {}',
        replace: '{} as typeof earlier',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'is ended leaves both sides paused',
    },
  },
  {
    name: 'a move that is interrupted leaves fencing numbers that the source has given out',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'await this.#givenBack()\n    await this.#raiseTokens()',
        replace: 'await this.#givenBack()',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'is ended leaves both sides paused',
    },
  },
  {
    name: 'a move resumes a queue that is not to be resumed',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'if (resume && resumes)',
        replace: 'if (resumes)',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'not to be resumed stays paused',
    },
  },
  {
    name: 'an onProgress that fails ends the move, or the process',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: "safeListener('the onProgress of moveQueues', checkFunction('onProgress', onProgress))",
        replace: "(safeListener ? checkFunction('onProgress', onProgress) : undefined)",
      },
    ],
    finder: {
      file: 'tests/test/transfer/pages-of-a-move.test.ts',
      title: 'an onProgress that',
    },
  },
  {
    name: 'an import into a queue that was closed blames the lines',
    edits: [
      {
        file: 'packages/queue/src/transfer/import-queue.ts',
        find: "if (core.phase === 'closed') throw calls.closedError()",
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'a queue that was closed is neither exported nor imported',
    },
  },
  {
    name: 'a move sends keys with long errors in a call that is too large',
    edits: [
      {
        file: 'packages/queue/src/transfer/transfer-batches.ts',
        find: ' + (row.lastError?.length ?? 0)',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/pages-of-a-move.test.ts',
      title: 'a store gets no more keys and text in a call than it wants',
    },
  },
  {
    name: 'an import takes keys of a priority that no add may have',
    edits: [
      {
        file: 'packages/queue/src/transfer/transfer-lines.ts',
        find: '.priority`, priority)',
        replace: '.priority`, 0)',
      },
    ],
    finder: {
      file: 'tests/test/transfer/export-import.test.ts',
      title: 'a priority that is none',
    },
  },
  {
    name: 'a move does not know that an earlier one had come to its end',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'if (resume) await setMoveMark(this.#from.driver, queue, { resumes, hasEnded: true })',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'was paused at its new place stays so',
    },
  },
  {
    name: 'a queue that was paused is handed out in a second store that it is moved to',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: 'resumes = decided === true ? !(await to.counts(queue, { cap: 1 })).paused : undefined',
        replace: 'resumes = !(await to.counts(queue, { cap: 1 })).paused',
      },
    ],
    finder: {
      file: 'tests/test/transfer/move-queues.test.ts',
      title: 'a queue that was paused stays so in another store, too',
    },
  },
  {
    name: 'sluice move from a store to itself is a failure, and no usage error',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/move.ts',
        find: "if (isAbout(error, 'to')) throw oneStoreError(error)",
        replace: "if (isAbout(error, 'to')) throw error",
      },
    ],
    finder: {
      file: 'packages/cli/test/moving.test.ts',
      title: 'refuses a target that is the source by another address',
    },
  },
  {
    name: 'an import of earlier positions sets the order of Postgres back behind that of another one',
    edits: [
      {
        file: 'packages/postgres/src/rows/sequences.ts',
        find: 'if ((await read(store, connection)).arrival >= seq) return',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/postgres/test/verbs/transfer-order.test.ts',
      title: 'of two imports at once, the one of the earlier positions does not set the order back',
    },
  },
]
