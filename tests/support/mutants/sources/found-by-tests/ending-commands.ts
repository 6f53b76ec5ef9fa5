import type { FoundByTest } from '../source-mutant.ts'

const run = 'packages/cli/src/run.ts'
const tests = 'packages/cli/test/ending.test.ts'

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
]
