/** A change of a source file that puts a defect back, and the bounded run that finds it. */
export interface SourceMutant {
  /** What is wrong with it. */
  readonly name: string
  readonly edits: readonly SourceEdit[]
  /** The torture command, with its arguments, that fails. */
  readonly run: readonly string[]
}

export interface SourceEdit {
  /** A source file, from the root of the repository. */
  readonly file: string
  /** A text that occurs in it once. */
  readonly find: string
  readonly replace: string
}

const liveness = ['liveness', '--runs=30', '--seed=1']
const differential = (store: string): readonly string[] => {
  return ['differential', `--store=${store}`, '--runs=3', '--steps=400', '--seed=1']
}
const outage = ['outage', '--seconds=6']
const wrongCalls = ['wrong-calls', '--rounds=4', '--seed=1']

/** Known defects, put back one at a time. */
export const sourceMutants: readonly SourceMutant[] = [
  {
    name: 'idle processes on one SQLite file wake each other',
    edits: [
      {
        file: 'packages/queue/src/outlook.ts',
        find: 'registers ? tally.dueWorker(store.clock.monotonicMs(), beatMs) : undefined',
        replace: 'tally.worker()',
      },
      {
        file: 'packages/sqlite/src/change-watch.ts',
        find: 'if (work === this.#lastWork) return false',
        replace: '',
      },
    ],
    run: ['idle', '--seconds=10', '--quiet=5'],
  },
  {
    name: 'the rows of a queue in memory begin with a hole',
    edits: [
      {
        file: 'packages/memory/src/row-table.ts',
        find: "this.chunks[0]!.keys.push('')",
        replace: '',
      },
    ],
    run: differential('memory'),
  },
  {
    name: 'a key of memory keeps the name of its last but one holder',
    edits: [
      {
        file: 'packages/memory/src/row-cursor.ts',
        find: 'holds.holders[this.slot] = this.holder',
        replace: 'holds.holders[this.slot] ||= this.holder',
      },
    ],
    run: differential('memory'),
  },
  {
    name: 'a key whose release fails is held, and renewed, for ever',
    edits: [
      {
        file: 'packages/queue/src/give-back.ts',
        find: 'engine.reportTrouble(error)\n        continue',
        replace: 'engine.reportTrouble(error)\n        return',
      },
    ],
    run: liveness,
  },
  {
    name: 'getters hang after a shutdown whose claim brought some keys',
    edits: [
      {
        file: 'packages/queue/src/claimer.ts',
        find: "if (count > 0 || phase !== 'shutting-down') this.#mustClaimAgain = true\n      else if",
        replace: 'if (count === 0)\n      if',
      },
    ],
    run: liveness,
  },
  {
    name: 'a store in trouble is asked without a pause',
    edits: [
      {
        file: 'packages/queue/src/retry-gate.ts',
        find: 'if (!this.#isClosed) return undefined',
        replace: 'return undefined',
      },
    ],
    run: outage,
  },
  {
    name: 'adds are acknowledged into a SQLite file that is gone',
    edits: [
      {
        file: 'packages/sqlite/src/connection.ts',
        find: 'if (!this.#source.isReplaced()) {',
        replace: 'if (now >= 0) {',
      },
    ],
    run: outage,
  },
  {
    name: 'addMany of an array with holes never answers',
    edits: [
      {
        file: 'packages/queue/src/plain-queue.ts',
        find: 'Array.from(items, (item) => this.#encoded(item, priority))',
        replace: 'items.map((item) => this.#encoded(item, priority))',
      },
    ],
    run: wrongCalls,
  },
  {
    name: 'an import of something that has no lines is an untyped error',
    edits: [
      {
        file: 'packages/queue/src/import.ts',
        find: '  checkLines(lines)\n',
        replace: '',
      },
    ],
    run: wrongCalls,
  },
  {
    name: 'SQLite does not roll back',
    edits: [
      {
        file: 'packages/sqlite/src/connection.ts',
        find: 'session.rollback.run()',
        replace: "session.database.exec('commit')",
      },
    ],
    run: ['faults', '--store=sqlite', '--seconds=15', '--seed=1', '--only=SQLite, disk full'],
  },
]
