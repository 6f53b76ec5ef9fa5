import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the command line and the dashboard, and the tests that find them. */
export const foundByTestsOfCliAndDashboard: readonly FoundByTest[] = [
  {
    name: 'sluice watch --drop succeeds where there are no triggers',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/watch.ts',
        find: 'if (drop && !existed) {',
        replace: 'if (drop && existed === undefined) {',
      },
    ],
    finder: {
      file: 'packages/cli/test/watch-table.test.ts',
      title: 'dropping triggers that are not there is no success',
    },
  },
  {
    name: 'sluice add --stdin does not check that an item can be its own key',
    edits: [
      {
        file: 'packages/cli/src/commands/keys/add.ts',
        find: "checkedItem(parsedJson('it', line))",
        replace: "parsedJson('it', line)",
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title:
        'an item that cannot be its own key is a usage error; read from stdin, it is a bad line',
    },
  },
  {
    name: 'wrong tokens of others keep the owner out',
    edits: [
      {
        file: 'packages/dashboard/src/access/visitors.ts',
        find: 'if (!isSame(token, auth.token)) {\n      if (this.#wrong.allow()) {',
        replace:
          'const isAllowed = this.#wrong.allow()\n    if (!isAllowed || !isSame(token, auth.token)) {\n      if (isAllowed) {',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/sign-in.test.ts',
      title: 'is not kept from the owner by the wrong tokens of others',
    },
  },
  {
    name: 'sluice describe shows the own bucket of a queue only while workers are seen',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/describe.ts',
        find: 'new Set([`queue:',
        replace: 'new Set([`another:',
      },
    ],
    finder: {
      file: 'packages/cli/test/buckets.test.ts',
      title: 'a queue that no worker was seen of is shown with its own bucket',
    },
  },
  {
    name: 'doctor fails on a store that it cannot examine',
    edits: [
      {
        file: 'packages/cli/src/commands/stores/doctor.ts',
        find: 'if (!SluiceError.is(error)) throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/cli/test/doctor.test.ts',
      title: 'shows why a store cannot be examined',
    },
  },
  {
    name: 'a stream goes on for a visitor that the application no longer trusts',
    edits: [
      {
        file: 'packages/dashboard/src/access/visitors.ts',
        find: 'mayRead = again?.id === visitor.id',
        replace: 'mayRead ||= again?.id === visitor.id',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/stream-ends.test.ts',
      title: 'end when the application no longer trusts their visitor',
    },
  },
  {
    name: 'a file of the page is sent again for a tag that a proxy made weak',
    edits: [
      {
        file: 'packages/dashboard/src/http/page-files.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a part of the source.
        find: "['*', etag, `W/${etag}`]",
        replace: "['*', etag]",
      },
    ],
    finder: {
      file: 'packages/dashboard/test/page-files.test.ts',
      title: 'are cached for ever if their names contain a hash, and revalidated otherwise',
    },
  },
  {
    name: 'Allow does not name HEAD',
    edits: [
      {
        file: 'packages/dashboard/src/create-dashboard.ts',
        find: "...(hasHead ? ['HEAD'] : [])",
        replace: '...(hasHead ? [] : [])',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/access.test.ts',
      title: 'takes no other method than the one of a route',
    },
  },
  {
    name: 'a pointer that rests on a list collects every deleted row',
    edits: [
      {
        file: 'packages/dashboard/client/src/ui/held-rows.ts',
        find: 'length > goneMax) return wanted',
        replace: 'length < 0 * goneMax) return wanted',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/page-views.test.ts',
      title: 'come in the wanted order once more than 200 deleted ones have gathered',
    },
  },
  {
    name: 'the session does not say that no more streams can be opened',
    edits: [
      {
        file: 'packages/dashboard/src/access/session-info.ts',
        find: '{ noStreamBecause: refusal.message }',
        replace: '{}',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/stream-ends.test.ts',
      title: 'are limited in number; further ones are rejected with the reason',
    },
  },
  {
    name: 'two keys that are no UTF-8 become one',
    edits: [
      {
        file: 'packages/cli/src/lines-of.ts',
        find: 'if (!isUtf8(bytes)) throw ',
        replace: 'if (!isUtf8(bytes)) void ',
      },
    ],
    finder: {
      file: 'packages/cli/test/process.test.ts',
      title: 'is refused on stdin, after the lines before it',
    },
  },
  {
    name: 'a command that watches ends with the first read that fails',
    edits: [
      {
        file: 'packages/cli/src/rows/repeated-reads.ts',
        find: 'if (!(SluiceError.is(error) && error.retryable)) throw error',
        replace: 'throw error',
      },
    ],
    finder: {
      file: 'packages/cli/test/watching-outages.test.ts',
      title: 'commands that watch say so once, and go on when it is back',
    },
  },
  {
    name: 'a code that redactError hides is confirmed to a visitor who guesses it',
    edits: [
      {
        file: 'packages/dashboard/src/views/find-keys.ts',
        find: 'return display.code(lastError, { queue, key }) === errorCode',
        replace: 'return display !== undefined && queue !== key',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/failures.test.ts',
      title: 'are not found by a code that redaction has changed, so that no guess is confirmed',
    },
  },
  {
    name: 'a code that redactError hides selects keys for actions',
    edits: [
      {
        file: 'packages/dashboard/src/routes.ts',
        find: 'if (code === undefined) return',
        replace: 'if (code !== null) return',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/failures.test.ts',
      title: 'are not found by a code that redaction has changed, so that no guess is confirmed',
    },
  },
  {
    name: 'a header of many spaces stops the dashboard',
    edits: [
      {
        file: 'packages/dashboard/src/http/page-files.ts',
        find: "return header.split(',').some((coding) => {",
        replace:
          "if (!/gzip\\s*(?!\\s*;\\s*q=0)(?:[;,]|$)/i.test(header)) return false\n  return header.split(',').some((coding) => {",
      },
    ],
    finder: {
      file: 'packages/dashboard/test/page-files.test.ts',
      title: 'are found without delay, however long the header of a client is',
    },
  },
  {
    name: 'a stream goes on while the application does not say whether it trusts its visitor',
    edits: [
      {
        file: 'packages/dashboard/src/access/visitors.ts',
        find: 'if (!isAnswered) return false',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/stream-ends.test.ts',
      title: 'end when the application no longer trusts their visitor',
    },
  },
  {
    name: 'completion reads the current store after --context',
    edits: [
      {
        file: 'packages/cli/src/completion/candidates.ts',
        find: "if (option.long === '--context') named.context = value",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/contexts.test.ts',
      title: 'completion offers the names of the store that the words name',
    },
  },
  {
    name: 'top cuts a name to more columns than it may have',
    edits: [
      {
        file: 'packages/cli/src/output/table.ts',
        find: 'const headMax = Math.ceil((columns - 1) / 2)',
        replace: 'const headMax = columns',
      },
    ],
    finder: {
      file: 'packages/cli/test/top-screen.test.ts',
      title: 'columns with names of any characters',
    },
  },
  {
    name: 'top shows one line of a warning',
    edits: [
      {
        file: 'packages/cli/src/rows/top-screen.ts',
        find: 'const titleLinesMax = 4',
        replace: 'const titleLinesMax = 1',
      },
    ],
    finder: {
      file: 'packages/cli/test/top-screen.test.ts',
      title: 'has all of a warning that is longer than a line',
    },
  },
  {
    name: 'a body that a parser of texts has read is put into JSON once more',
    edits: [
      {
        file: 'packages/dashboard/src/node-handler.ts',
        find: 'isUnparsed ? body : JSON.stringify(body)',
        replace: 'JSON.stringify(body)',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/serving.test.ts',
      title: 'with a body read as',
    },
  },
  {
    name: 'ls does not find the errors without a code by their names',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/ls.ts',
        find: '(lastError?.code ?? lastError?.name) === errorCode',
        replace: 'lastError?.code === errorCode',
      },
    ],
    finder: {
      file: 'packages/cli/test/key-verbs.test.ts',
      title: 'an error without a code is found by its name, by ls as by the verbs',
    },
  },
  {
    name: 'the lines before a bad line of stdin are said to be added, and are not',
    edits: [
      {
        file: 'packages/cli/src/commands/keys/add.ts',
        find: '  } finally {\n    // The lines before a bad one, too, as its error says.\n    await flush()',
        replace: '    await flush()\n  } finally {',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'keys are read from stdin, and a bad line is named',
    },
  },
  {
    name: 'the cookie of a session names a path that a browser behind a proxy does not know',
    edits: [
      {
        file: 'packages/dashboard/src/access/visitors.ts',
        find: '`HttpOnly; SameSite=Strict;',
        replace: '`Path=/queues; HttpOnly; SameSite=Strict;',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/sign-in.test.ts',
      title: 'gives a cookie that scripts and other sites never get',
    },
  },
  {
    name: 'sluice describe shows buckets whose names are a part of the plan',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/describe.ts',
        find: 'buckets.filter(({ name }) => names.has(name))',
        replace:
          'buckets.filter(({ name }) => plans.some((plan) => JSON.stringify(plan).includes(name)))',
      },
    ],
    finder: {
      file: 'packages/cli/test/buckets.test.ts',
      title: 'a queue is shown with the tokens that its own buckets have now',
    },
  },
  {
    name: 'sluice describe shows the tokens of the last write',
    edits: [
      {
        file: 'packages/cli/src/commands/inspect/describe.ts',
        find: 'capabilities.buckets ? bucketsNow(inspection) : []',
        replace: 'capabilities.buckets ? inspection.buckets() : []',
      },
    ],
    finder: {
      file: 'packages/cli/test/buckets.test.ts',
      title: 'a queue is shown with the tokens that its own buckets have now',
    },
  },
  {
    name: 'a queue is described by the limiter of a worker that has stopped',
    edits: [
      {
        file: 'packages/core/src/limiter/last-seen.ts',
        find: 'newestFirst.find(({ concurrency }) => concurrency > 0) ?? newestFirst[0]',
        replace: 'newestFirst[0]',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/figures.test.ts',
      title:
        'is that of the workers which take keys, as explain has it, after a newer one has stopped',
    },
  },
  {
    name: 'a sum of charts begins where the first of them does',
    edits: [
      {
        file: 'packages/dashboard/src/views/chart-steps.ts',
        find: 'Math.max(empty.from, ...charts.map((chart) => chart.from))',
        replace: 'charts[0]?.from ?? empty.from',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/chart-marks.test.ts',
      title: 'has the axis of the later ones',
    },
  },
  {
    name: 'a page is told that all is well while its store is silent',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: 'if (this.#trouble !== undefined) {',
        replace: 'if (false) {',
      },
    ],
    finder: { file: 'packages/dashboard/test/watch.test.ts', title: 'while the store is silent' },
  },
]
