import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the conformance suite, and the tests that find them. */
export const foundByTestsOfConformance: readonly FoundByTest[] = [
  {
    name: 'the end of a case of the conformance suite has no time limit',
    edits: [
      {
        file: 'packages/conformance/src/run-cases.ts',
        find: 'await withinTime(what, async () => await end(), storeTimeoutOf(options))',
        replace: 'await end()',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a driver whose close never ends fails its cases, one after the other',
    },
  },
  {
    name: 'creating the subject of a case of the conformance suite has no time limit',
    edits: [
      {
        file: 'packages/conformance/src/run-cases.ts',
        find: "await withinTime('creating the subject', () => created, storeTimeoutOf(options))",
        replace: 'await created',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a subject that is never created fails its cases, one after the other',
    },
  },
  {
    name: 'the end of a case of the conformance suite stops at the first driver that cannot be closed',
    edits: [
      {
        file: 'packages/conformance/src/scene/case-resources.ts',
        find: 'await end().catch((error: unknown) => errors.push(error))',
        replace: 'await end()',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a driver that cannot be closed does not keep the store from being removed',
    },
  },
  {
    name: 'a driver that opens after its case of the conformance suite has ended stays open',
    edits: [
      {
        file: 'packages/conformance/src/scene/case-resources.ts',
        find: 'if (this.#hasEnded) await driver.close()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a driver that opens after the limit of its case is closed',
    },
  },
  {
    name: 'a store that a case of the conformance suite creates after its end stays',
    edits: [
      {
        file: 'packages/conformance/src/scene/case-resources.ts',
        find: 'if (this.#hasEnded) await subject.dispose?.()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'another store that a case creates after its limit is removed',
    },
  },
  {
    name: 'a subject of the conformance suite that is created too late keeps its store',
    edits: [
      {
        file: 'packages/conformance/src/run-cases.ts',
        find: 'await late.dispose?.()',
        replace: 'late',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a subject that is created after its limit is disposed of',
    },
  },
  {
    name: 'the conformance suite compares no history with the model, and says that they are alike',
    edits: [
      {
        file: 'packages/conformance/src/cli.ts',
        find: 'if (value !== undefined && value < 1) {',
        replace: 'if (value !== undefined && value < 0) {',
      },
    ],
    finder: {
      file: 'packages/conformance/test/cli.test.ts',
      title: 'a usage error prints the usage',
    },
  },
  {
    name: 'a search of the conformance suite may take no longer than another case',
    edits: [
      {
        file: 'packages/conformance/src/run-cases.ts',
        find: "next('a history of the case')",
        replace: 'undefined',
      },
    ],
    finder: {
      file: 'packages/conformance/test/run-cases.test.ts',
      title: 'a search may take as long for each of its histories, and no longer',
    },
  },
  {
    name: 'a group of cases of the conformance suite cannot be named as in documents',
    edits: [
      {
        file: 'packages/conformance/src/cli.ts',
        find: "name.replace(/\\.\\*$/, '')",
        replace: 'name',
      },
    ],
    finder: {
      file: 'packages/conformance/test/cli.test.ts',
      title: 'a group of cases is chosen as documents name it, or by its name',
    },
  },
  {
    name: 'a call to another process of the conformance suite that is ending is an error of the child',
    edits: [
      {
        file: 'packages/conformance/src/other-process.ts',
        find: "child.on('error', reject)",
        replace: "child.once('error', reject)",
      },
    ],
    finder: {
      file: 'packages/conformance/test/other-process.test.ts',
      title: 'calls to a process that is ending have an unknown outcome, and do not fail its kill',
    },
  },
  {
    name: 'with --json the conformance suite lists its cases as text',
    edits: [
      {
        file: 'packages/conformance/src/cli.ts',
        find: 'if (values.json === true) world.out(`${JSON',
        replace: 'if (values.json === null) world.out(`${JSON',
      },
    ],
    finder: {
      file: 'packages/conformance/test/cli.test.ts',
      title: 'with --json the list is one document',
    },
  },
  {
    name: 'with -o json an error of the conformance suite is text',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/conformance.ts',
        find: "const isJson = input.text('output') === 'json'",
        replace: 'const isJson = false',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'with -o json, the list of cases and errors of the suite are documents',
    },
  },
  {
    name: 'the suite expects a driver without watch to wake the waiters of a queue that is resumed',
    edits: [
      {
        file: 'packages/conformance/src/queue-cases/waking.ts',
        find: 'needs: { watch: true, operate: true }',
        replace: 'needs: { operate: true }',
      },
    ],
    finder: {
      file: 'tests/test/conformance/queue-conformance.test.ts',
      title: 'through the queue, on a driver without watch',
    },
  },
  {
    name: 'a process that serves a driver fails with EPIPE when its parent has gone before an answer',
    edits: [
      {
        file: 'packages/conformance/src/other-process.ts',
        find: 'own.send?.(answer, (error) => {\n      if (error instanceof Error) end()\n    })',
        replace: 'own.send?.(answer)',
      },
    ],
    finder: {
      file: 'packages/conformance/test/other-process.test.ts',
      title: 'a process whose parent has gone while it carries out a call ends in order',
    },
  },
  {
    name: 'a process that serves a driver stays when its parent has gone before the greeting',
    edits: [
      {
        file: 'packages/conformance/src/other-process.ts',
        find: 'if (error instanceof Error) end()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/conformance/test/other-process.test.ts',
      title: 'a process whose parent has gone before its greeting ends in order',
    },
  },
]
