import type { FoundByTest } from '../source-mutant.ts'

/** Defects with stores that are damaged and drivers that are shared, and the tests that find them. */
export const foundByTestsOfDamagedStores: readonly FoundByTest[] = [
  {
    name: 'an item that is not JSON hides the other keys of its queue',
    edits: [
      {
        file: 'packages/queue/src/inspect/key-info.ts',
        find: 'item: itemOf(row),',
        replace: 'item: decodeItem(row.key, row.item),',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'hides no other key',
    },
  },
  {
    name: 'an add of an operator stores a key as its item where that is lost',
    edits: [
      {
        file: 'packages/queue/src/inspect/inspect-store.ts',
        find: '    decodeItem(key, row.item)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/inspect.test.ts',
      title: 'hides no other key',
    },
  },
  {
    name: 'a damaged queue hides all others on the command line',
    edits: [
      {
        file: 'packages/cli/src/rows/queue-rows.ts',
        find: 'if (isOfDamage(error)) return { queue, error }',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'does not hide the others, and the command fails after them',
    },
  },
  {
    name: 'a command that cannot read each queue ends as if it had',
    edits: [
      {
        file: 'packages/cli/src/output/printer.ts',
        find: 'if (unread.length > 0) throw new CommandErrors(unread.map(({ error }) => error))',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'does not hide the others, and the command fails after them',
    },
  },
  {
    name: 'a watch says that a damaged queue is gone',
    edits: [
      {
        file: 'packages/cli/src/rows/print-watched.ts',
        find: '!now.has(each) && hidden.has(row.queue)',
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'is named once by a watch, which goes on',
    },
  },
  {
    name: 'a watch warns of a damaged queue at each read',
    edits: [
      {
        file: 'packages/cli/src/rows/unread-warnings.ts',
        find: 'this.#known = new Set(texts.keys())',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'is named once by a watch, which goes on',
    },
  },
  {
    name: 'a queue that was damaged has events of before when it is repaired',
    edits: [
      {
        file: 'packages/cli/src/rows/store-events.ts',
        find: 'this.#names?.includes(queue) === false',
        replace: 'this.#names !== undefined',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'at the first look has no events of before when it can be read',
    },
  },
  {
    name: 'a Redis queue that a newer version has stored ends doctor',
    edits: [
      {
        file: 'packages/redis/src/doctor.ts',
        find: "if (SluiceError.is(error, 'ERR_SCHEMA_NEWER')) return error",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'a queue that a newer version has stored is a failure, and the rest is checked',
    },
  },
  {
    name: 'doctor does not say that the description of a Redis queue is missing',
    edits: [
      {
        file: 'packages/redis/src/verbs/examine.ts',
        find: 'described === 0 && rows !== 0',
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'keys whose row and sets do not agree are a failure that names them',
    },
  },
  {
    name: 'a damaged queue hides the time of its store',
    edits: [
      {
        file: 'packages/queue/src/inspect/inspect-store.ts',
        find: '!isPermanent(error)',
        replace: "!SluiceError.is(error, 'ERR_SCHEMA_NEWER')",
      },
    ],
    finder: {
      file: 'packages/queue/test/inspect/store-inspection.test.ts',
      title: 'does not hide the time of its store',
    },
  },
  {
    name: 'metrics of a damaged queue that no process uses are 0 without a report',
    edits: [
      {
        file: 'packages/metrics/src/recorder/store-reader.ts',
        find: 'isOpen || isOfDamage(error)',
        replace: 'isOpen',
      },
    ],
    finder: {
      file: 'packages/metrics/test/store.test.ts',
      title: 'is reported from the first read on, and hides no other one',
    },
  },
  {
    name: 'a copy of every queue ends at a damaged one',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/copy.ts',
        find: 'if (!isOfDamage(error)) throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'goes on after a queue that cannot be read, and then fails',
    },
  },
  {
    name: 'a move of every queue ends at a damaged one',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/move.ts',
        find: 'if (!isOfDamage(error)) throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/cli/test/damaged-queues.test.ts',
      title: 'goes on after a queue that cannot be read, and then fails',
    },
  },
  {
    name: 'copies of the package do not share a driver',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: "Symbol.for('sluice.driver-handles')",
        replace: "Symbol('sluice.driver-handles')",
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/two-copies.test.ts',
      title: 'the last one closes it',
    },
  },
  {
    name: 'doctor calls a SQLite file intact of which a table was dropped',
    edits: [
      {
        file: 'packages/sqlite/src/schema/examine-store.ts',
        find: '  findings.push(...lacks)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/damage.test.ts',
      title: 'what the schema lacks is found',
    },
  },
  {
    name: 'doctor calls a schema of Postgres healthy of which an index was dropped',
    edits: [
      {
        file: 'packages/postgres/src/schema/relations.ts',
        find: '...indexes.filter((name) => !found.has(name))',
        replace: '...indexes.filter(() => false)',
      },
    ],
    finder: {
      file: 'packages/postgres/test/schema/doctor.test.ts',
      title: 'what the schema lacks is a failure that names it',
    },
  },
  {
    name: 'a key of which the item is lost is moved as its own item',
    edits: [
      {
        file: 'packages/queue/src/transfer/move-queues.ts',
        find: '      checkItems(this.#queue, moving)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/refused-moves.test.ts',
      title: 'are not moved as their own items',
    },
  },
  {
    name: 'an export has items that no import reads',
    edits: [
      {
        file: 'packages/queue/src/transfer/export-queue.ts',
        find: '      checkItem(name, leaving)\n',
        replace: '',
      },
    ],
    finder: {
      file: 'tests/test/transfer/refused-exports.test.ts',
      title: 'ends an export',
    },
  },
  {
    name: 'doctor advises an export of a Redis queue with a lost item, which ends at it',
    edits: [
      {
        file: 'packages/redis/src/verbs/examine.ts',
        find: "text.startsWith('i') ? withoutItem : wrong",
        replace: 'wrong',
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'keys whose row and sets do not agree are a failure that names them',
    },
  },
  {
    name: 'a Redis queue without a description is said to be resumed already',
    edits: [
      {
        file: 'packages/redis/src/scripts.generated.ts',
        find: "if wanted == (isPaused and '1' or '0') then\ncheckDescription()",
        replace: "if wanted == (isPaused and '1' or '0') then",
      },
    ],
    finder: {
      file: 'packages/redis/test/missing-parts.test.ts',
      title: 'is not taken for an empty one without its description',
    },
  },
  {
    name: 'a damaged queue hides all others on the dashboard',
    edits: [
      {
        file: 'packages/dashboard/src/views/store-view.ts',
        find: 'if (SluiceError.is(error) && damageCodes.has(error.code)) return { error }',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/damaged-queue.test.ts',
      title: 'is named with the reason, and hides no other one',
    },
  },
  {
    name: 'the dashboard shows a store that fails now and then as one with damaged queues',
    edits: [
      {
        file: 'packages/dashboard/src/views/store-view.ts',
        find: 'SluiceError.is(error) && damageCodes.has(error.code)',
        replace: 'SluiceError.is(error)',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/damaged-queue.test.ts',
      title: 'is not what a store is that does not answer for one',
    },
  },
  {
    name: 'a damaged queue is not named where no other one can be read',
    edits: [
      {
        file: 'packages/dashboard/src/views/store-view.ts',
        find: "      if ('read' in answer) return []\n",
        replace:
          "      if ('read' in answer) return []\n      if (found.length === 0) throw answer.error\n",
      },
    ],
    finder: {
      file: 'packages/dashboard/test/damaged-queue.test.ts',
      title: 'is named where no other one can be read, as in a store of one queue',
    },
  },
  {
    name: 'the failures of a damaged queue are shown as none',
    edits: [
      {
        file: 'packages/dashboard/src/views/failures-reader.ts',
        find: '{ read: [await this.#read(queue, at)], unread: [] }',
        replace: 'await storeView.forEach([queue], (name) => this.#read(name, at))',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/damaged-queue.test.ts',
      title: 'is the answer where it alone is asked for',
    },
  },
]
