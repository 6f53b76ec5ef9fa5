import type { FoundByTest } from '../source-mutant.ts'

/** Defects of programs: the command line, the server of the dashboard, and those of users, and the tests that find them. */
export const foundByTestsOfPrograms: readonly FoundByTest[] = [
  {
    name: 'a browser that could not be started is not missed',
    edits: [
      {
        file: 'packages/cli/src/bin.ts',
        find: "child.once('exit', (code) => resolve(code === 0))",
        replace: "child.once('spawn', () => resolve(true))",
      },
    ],
    finder: {
      file: 'packages/cli/test/dashboard.test.ts',
      title: 'and says so if that',
    },
  },
  {
    name: 'the dashboard says nothing before its browser is closed',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/dashboard.ts',
        find: 'void browse(context, signInUrl)',
        replace: 'await browse(context, signInUrl)',
      },
    ],
    finder: {
      file: 'packages/cli/test/dashboard.test.ts',
      title: 'which may run as long as the browser, and gets the address',
    },
  },
  {
    name: 'a second signal does not end a command either',
    edits: [
      {
        file: 'packages/cli/src/bin.ts',
        find: 'if (controller.signal.aborted) process.exit(reason.exitCode)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/process.test.ts',
      title: 'ends at once, as the second one, what the first one lets come to its end',
    },
  },
  {
    name: 'a view that 200 others leave no room for outlives its dashboard',
    edits: [
      {
        file: 'packages/dashboard/src/live/live-views.ts',
        find: '    this.#makeRoom()\n',
        replace: '',
      },
      {
        file: 'packages/dashboard/src/live/live-views.ts',
        find: 'this.#entries.set(id, entry)',
        replace: 'this.#entries.set(id, entry)\n    this.#makeRoom()',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/stream-ends.test.ts',
      title: 'end with the dashboard, however many views it has',
    },
  },
  {
    name: 'what is pressed after an arrow key, before the program reads it, is lost',
    edits: [
      {
        file: 'packages/cli/src/bin.ts',
        find: 'keysIn(String(chunk))',
        replace: '(chunk[0] === 27 ? [String(chunk)] : String(chunk))',
      },
    ],
    finder: {
      file: 'packages/cli/test/top-screen.test.ts',
      title: 'top in a real terminal of 80 columns',
    },
  },
  {
    name: 'each reader that comes while a view is read lets it be sent once more',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: '    this.#isTicking = true\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a reader that comes while a view is read',
    },
  },
  {
    name: 'a document of YAML has halves of characters, which its parsers refuse',
    edits: [
      {
        file: 'packages/cli/src/output/yaml.ts',
        find: 'safeJson(value, 0, yamlEscape)',
        replace: 'safeJson(value)',
      },
    ],
    finder: {
      file: 'packages/cli/test/printing.test.ts',
      title: 'YAML reads back what JSON says',
    },
  },
  {
    name: 'a key leaves the screen of top as it is until the next read',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/top.ts',
        find: 'else void draw()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/watching.test.ts',
      title: 'a key changes the screen of top at once, and q ends it',
    },
  },
  {
    name: 'rates of a queue leave out the workers behind one that counts nothing',
    edits: [
      {
        file: 'packages/cli/src/rows/run-rates.ts',
        find: 'if (stats === undefined) continue',
        replace: 'if (stats === undefined) break',
      },
    ],
    finder: {
      file: 'packages/cli/test/run-rates.test.ts',
      title: 'beside workers that count, one that counts nothing has slots only',
    },
  },
  {
    name: 'the next worker of a queue whose last one has stopped is no event',
    edits: [
      {
        file: 'packages/cli/src/rows/store-events.ts',
        find: '(last?.concurrency ?? 0) > 0',
        replace: 'last !== undefined',
      },
    ],
    finder: {
      file: 'packages/cli/test/events.test.ts',
      title: 'a queue object that gets a worker after its last one has stopped is an event again',
    },
  },
  {
    name: 'an export to a file shows no progress on a terminal',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/export-lines.ts',
        find: 'isSeen: false',
        replace: 'isSeen: true',
      },
    ],
    finder: {
      file: 'packages/cli/test/printing.test.ts',
      title: 'on a terminal, what takes long shows its progress, and clears it before the result',
    },
  },
  {
    name: 'an option that is empty is as if it were absent',
    edits: [
      {
        file: 'packages/cli/src/input.ts',
        find: "if (value === '') throw",
        replace: "if (value === '' && name === '') throw",
      },
    ],
    finder: {
      file: 'packages/cli/test/contexts.test.ts',
      title: 'an option that is empty leads to no other store or keys than those it was to name',
    },
  },
  {
    name: 'a key of a queue that is not there is explained',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/explain.ts',
        find: 'await knownQueue(context, inspection, queue)',
        replace: 'inspection.queue(queue)',
      },
    ],
    finder: {
      file: 'packages/cli/test/naming-queues.test.ts',
      title: 'is refused, with the name that was meant, and makes no queue',
    },
  },
  {
    name: 'a database that keeps its file locked is opened by a second connection',
    edits: [
      {
        file: 'packages/sqlite/src/connection/target.ts',
        find: "singleValue(database, 'pragma locking_mode') === 'exclusive'",
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/connection-settings.test.ts',
      title: 'is required where the connection keeps the file locked',
    },
  },
  {
    name: 'sluice add stores another number than the item has',
    edits: [
      {
        file: 'packages/cli/src/input.ts',
        find: 'if (altered === undefined) return value',
        replace: 'if (altered !== text) return value',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'an item with a number that would be stored as another one is refused',
    },
  },
  {
    name: 'the page of a key says that the queue of the dashboard accepts keys',
    edits: [
      {
        file: 'packages/dashboard/src/views/key-view.ts',
        find: "code !== 'QUEUE_SHUTTING_DOWN'",
        replace: "code !== 'NOT_FOUND'",
      },
    ],
    finder: {
      file: 'packages/dashboard/test/views.test.ts',
      title: 'are those of the store, and say nothing of a queue object',
    },
  },
  {
    name: 'the completion of bash replaces what stands before an equals sign',
    edits: [
      {
        file: 'packages/cli/src/completion/scripts.ts',
        find: 'for sign in : =; do',
        replace: 'for sign in :; do',
      },
    ],
    finder: {
      file: 'packages/cli/test/completion.test.ts',
      title: 'words with a colon or an equals sign are completed, which end a word there',
    },
  },
  {
    name: 'the completion of bash escapes what it adds to a word in quotes',
    edits: [
      {
        file: 'packages/cli/src/completion/scripts.ts',
        find: '[[ -n $quote ]] || printf',
        replace: 'printf',
      },
    ],
    finder: {
      file: 'packages/cli/test/completion.test.ts',
      title: 'words in quotes, and below the home folder, are what the shell makes of them',
    },
  },
  {
    name: 'the form of an address is left to each command',
    edits: [
      {
        file: 'packages/cli/src/stores/open-store.ts',
        find: "if (!SluiceError.is(error, 'ERR_INVALID_INPUT')) return",
        replace: 'if (SluiceError.is(error)) return',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'is refused with words',
    },
  },
  {
    name: 'a dashboard with other hosts does not answer its own address',
    edits: [
      {
        file: 'packages/dashboard/src/serve-dashboard.ts',
        find: '? [...others, own] : others',
        replace: '? [...others] : others',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/serving.test.ts',
      title: 'whatever other hosts are allowed',
    },
  },
  {
    name: 'a file of SQLite cannot be made where a test has set the system clock to 0',
    edits: [
      {
        file: 'packages/sqlite/src/schema/migrate.ts',
        find: 'Math.max(1, Math.floor(systemClock.now() * 1_000))',
        replace: 'Math.floor(systemClock.now() * 1_000)',
      },
    ],
    finder: {
      file: 'packages/sqlite/test/time.test.ts',
      title: 'a file is made where the system clock says',
    },
  },
  {
    name: 'one Ctrl-C that comes twice takes the grace away',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: 'at - first.at < copiesMs',
        replace: 'at < first.at',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'one press of Ctrl-C that comes more than once',
    },
  },
  {
    name: 'sluice migrate --print-sql prints all versions whatever --from says',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/migrate.ts',
        find: 'migrationSql({ schema, from })',
        replace: 'migrationSql({ schema, from: from * 0 })',
      },
    ],
    finder: {
      file: 'packages/cli/test/moving.test.ts',
      title: 'prints SQL for others to run, without a store to connect to',
    },
  },
  {
    name: 'sluice migrate --roles gives no rights to the role of --producer',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/migrate.ts',
        find: 'rolesSql({ schema, owner, runtime, readOnly, producer })',
        replace: 'rolesSql({ schema, owner, runtime, readOnly })',
      },
    ],
    finder: {
      file: 'packages/cli/test/moving.test.ts',
      title: 'prints SQL for others to run, without a store to connect to',
    },
  },
  {
    name: 'the command line prints the password of PGPASSWORD',
    edits: [
      {
        file: 'packages/cli/src/run-cli.ts',
        find: "  secrets.add(terminal.env['PGPASSWORD'])\n",
        replace: '',
      },
    ],
    finder: { file: 'packages/cli/test/calling.test.ts', title: 'PGPASSWORD' },
  },
  {
    name: 'a signal that is named twice is its own second one',
    edits: [
      {
        file: 'packages/queue/src/worker/stop-on-signals.ts',
        find: '[...new Set(named)]',
        replace: 'named',
      },
    ],
    finder: {
      file: 'packages/queue/test/worker/stop-on-signals.test.ts',
      title: 'a signal that is named twice is not a second one',
    },
  },
  {
    name: 'top does not end by q while the store is silent',
    edits: [
      {
        file: 'packages/cli/src/rows/repeated-reads.ts',
        find: 'await Promise.race([read(), abort.promise])',
        replace: 'await read()',
      },
    ],
    finder: {
      file: 'packages/cli/test/watching.test.ts',
      title: 'a watch ends while the store does not answer its',
    },
  },
  {
    name: 'an error of the command line shows a password up to its ?',
    edits: [
      {
        file: 'packages/cli/src/stores/store-address.ts',
        find: 'if (isCut || [',
        replace: 'if ([',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'one with a ? that should be encoded',
    },
  },
]
