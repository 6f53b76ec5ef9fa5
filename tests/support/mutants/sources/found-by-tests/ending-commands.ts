import type { FoundByTest } from '../source-mutant.ts'

const run = 'packages/cli/src/run.ts'
const tests = 'packages/cli/test/ending.test.ts'
const report = 'packages/cli/src/output/report-error.ts'
const reports = 'packages/cli/test/reporting-errors.test.ts'

/** Defects of how a command of the command line ends, and the tests that find them. */
export const foundByTestsOfEndingCommands: readonly FoundByTest[] = [
  {
    name: 'an interrupted command waits for a store that does not close',
    edits: [
      {
        file: run,
        find: 'this.signal.aborted ? Promise.race([ending, this.#soon()]) : ending',
        replace: 'ending',
      },
    ],
    finder: {
      file: tests,
      title: 'what does not close after an interruption delays the end of the rest by two seconds',
    },
  },
  {
    name: 'an interrupted command whose store does not close leaves the screen as it is',
    edits: [
      {
        file: run,
        find: 'this.terminal.clock.startTimer(endMs, done).ref()',
        replace: 'this.terminal.clock.startTimer(endMs, done)',
      },
    ],
    finder: {
      file: tests,
      title: 'what does not close after an interruption delays the end of the rest by two seconds',
    },
  },
  {
    name: 'a store that cannot be closed makes a command fail that has succeeded',
    edits: [{ file: run, find: '.then(end)\n        .catch(() => {})', replace: '.then(end)' }],
    finder: { file: tests, title: 'what cannot be closed does not change how a command has ended' },
  },
  {
    name: 'a command with --timeout that waits for nothing ends before, without a word',
    edits: [{ file: run, find: 'this.#timer.ref()', replace: '' }],
    finder: {
      file: tests,
      title: 'a command that waits for nothing lives until its --timeout, and fails then',
    },
  },
  {
    name: 'a copy that was interrupted exits with 0',
    edits: [{ file: run, find: 'this.signal.throwIfAborted()', replace: '' }],
    finder: {
      file: tests,
      title:
        'a command that comes to its own end after an interruption was interrupted all the same',
    },
  },
  {
    name: 'an interrupted command reports an error of the interruption',
    edits: [
      { file: run, find: 'this.signal.aborted ? this.signal.reason : error', replace: 'error' },
    ],
    finder: { file: tests, title: 'what an interruption makes fail is no error of its own' },
  },
  {
    name: 'with --debug, the stack of an error clears the terminal',
    edits: [{ file: report, find: 'lines.map(oneLine)', replace: 'lines' }],
    finder: { file: reports, title: 'contains nothing that a terminal obeys' },
  },
  {
    name: 'the message of an error sets the title of the terminal',
    edits: [
      {
        file: report,
        find: 'oneLine(secrets.redact(failure.message))',
        replace: 'secrets.redact(failure.message)',
      },
    ],
    finder: { file: reports, title: 'contains nothing that a terminal obeys' },
  },
  {
    name: 'with --debug, an error that is its own cause ends the command without a report',
    edits: [{ file: report, find: ' || depth > 8', replace: '' }],
    finder: { file: reports, title: 'ends with --debug although an error is its own cause' },
  },
  {
    name: 'an export to a file that fails leaves it, in the way of the next one',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/export-lines.ts',
        find: 'if (isWhole) return',
        replace: 'return',
      },
    ],
    finder: {
      file: 'packages/cli/test/exporting.test.ts',
      title: 'leaves none, and can be repeated',
    },
  },
  {
    name: 'an export that is interrupted while its file is opened leaves it',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/export-lines.ts',
        find: '  let isWhole = false',
        replace: '  await opening.catch(() => {})\n  let isWhole = false',
      },
    ],
    finder: {
      file: 'packages/cli/test/exporting.test.ts',
      title: 'while its file is opened leaves none',
    },
  },
  {
    name: 'an export deletes the file that it was not to overwrite',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/export-lines.ts',
        find: 'const opened = await opening\n',
        replace: 'const opened = await opening.catch(() => rm(path) as never)\n',
      },
    ],
    finder: {
      file: 'packages/cli/test/moving.test.ts',
      title: 'a queue is written as lines and read back, through a pipe and through a file',
    },
  },
  {
    name: 'a command leaves its store open, and the log of a file next to it',
    edits: [
      {
        file: 'packages/cli/src/run.ts',
        find: 'this.defer(() => store.inspection.close())',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/ending.test.ts',
      title: 'a command closes the store that it has opened, also after an error',
    },
  },
]
