import type { FoundByTest } from '../source-mutant.ts'

/** Defects of the dashboard, its page and its streams, and some of the command line, and the tests that find them. */
export const foundByTestsOfDashboard: readonly FoundByTest[] = [
  {
    name: 'a promise of redact is shown as an empty item, and its rejection ends the process',
    edits: [
      {
        file: 'packages/dashboard/src/views/key-display.ts',
        find: "if (isPromise(answer)) this.#refuse('redact(item)', 'a value', answer)",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/views.test.ts',
      title: 'are not shown if the redaction returns a promise',
    },
  },
  {
    name: 'a page waits for 90 s after each read of a store that is silent',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: 'if (this.#readAt === readAt) this.#hasFailed()',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a store that was silent until its reads were given up',
    },
  },
  {
    name: 'the dashboard takes an action of its own that takes half a minute for that of another page',
    edits: [
      {
        file: 'packages/dashboard/client/src/live/own-actions.ts',
        find: 'until: Number.POSITIVE_INFINITY',
        replace: 'until: now + awaitedMs',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/own-actions.test.ts',
      title: 'an action of this page is its own however long the store takes',
    },
  },
  {
    name: 'a key that was removed before it ran is shown as done',
    edits: [
      {
        file: 'packages/dashboard/client/src/key/state-graph.ts',
        find: "if (state !== 'absent') return stationOf(state)",
        replace: "if (state !== 'absent' || steps.length > 0) return stationOf(state)",
      },
    ],
    finder: {
      file: 'packages/dashboard/test/page-views.test.ts',
      title: 'is none where it was removed before it ran, or was never seen',
    },
  },
  {
    name: 'leases that have been lost for hours are said to be lost since the first minute that is kept in short steps',
    edits: [
      {
        file: 'packages/queue/src/judge/severity-since.ts',
        find: 'wasSo === false && end - sign.countedMs < (over[0]?.at ?? 0)',
        replace: 'false',
      },
    ],
    finder: {
      file: 'packages/queue/test/judge/severity-since.test.ts',
      title: 'the first steps of a range, which are less than a minute',
    },
  },
  {
    name: 'a view that is opened by a reader who has left is kept without end',
    edits: [
      {
        file: 'packages/dashboard/src/live/live-views.ts',
        find: 'if (stream.isEnded) return stream',
        replace: 'if (stream.isEnded) {\n      expiry?.stop()\n      return stream\n    }',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a view that is opened by a reader who has left already',
    },
  },
  {
    name: 'a page that is opened while the store is away is not told so',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: 'if (this.#trouble !== undefined) stream.send(this.#troubleEvent(this.#trouble), now)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a reader that comes while the store is away',
    },
  },
  {
    name: 'a page that is opened while the store is away has nothing to show',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: '(this.#isFresh(now) || this.#trouble !== undefined)',
        replace: 'this.#isFresh(now)',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a reader that comes while the store is away',
    },
  },
  {
    name: 'each failed read of a store is reported, though its readers know',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: "if (code === 'ERR_INTERNAL') report(error)",
        replace: 'report(error)',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a reader that comes while the store is away',
    },
  },
  {
    name: 'a reader whose session has ended leaves a timer behind',
    edits: [
      {
        file: 'packages/dashboard/src/live/watch.ts',
        find: 'if (this.#streams.size === 0) return\n    if (this.#timer',
        replace: 'if (this.#timer',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a reader whose session has ended leaves nothing behind',
    },
  },
  {
    name: 'a reader that was slow once is cut off when it is slow again',
    edits: [
      {
        file: 'packages/dashboard/src/live/event-stream.ts',
        find: '    this.#idleSince = undefined\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a reader that is slow now and then',
    },
  },
  {
    name: 'a member of a view that becomes undefined stays on pages',
    edits: [
      {
        file: 'packages/dashboard/src/live/delta.ts',
        find: 'if (value === undefined) continue',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/watch.test.ts',
      title: 'a member that a view has no longer is named',
    },
  },
  {
    name: 'sluice events --follow does not show that a queue was resumed that is listed no more',
    edits: [
      {
        file: 'packages/cli/src/rows/store-events.ts',
        find: '[...new Set([...names, ...(this.#names ?? [])])]',
        replace: 'names',
      },
    ],
    finder: {
      file: 'packages/cli/test/events.test.ts',
      title: 'a queue that is listed only while it is paused',
    },
  },
  {
    name: 'sluice events --follow does not show that an empty queue was paused',
    edits: [
      {
        file: 'packages/cli/src/rows/store-events.ts',
        find: ' ?? (isNew ? unlisted : undefined)',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/events.test.ts',
      title: 'a queue that is listed only while it is paused',
    },
  },
  {
    name: 'Backspace in the filter of top leaves half of a character',
    edits: [
      {
        file: 'packages/cli/src/rows/top-screen.ts',
        find: "[...this.#filter].slice(0, -1).join('')",
        replace: 'this.#filter.slice(0, -1)',
      },
    ],
    finder: {
      file: 'packages/cli/test/top-screen.test.ts',
      title: 'filters by what is typed until Enter',
    },
  },
  {
    name: 'visitors see the rest of a password that contains an @',
    edits: [
      {
        file: 'packages/dashboard/src/http/http-error.ts',
        find: ':\\S*@/g',
        replace: ':[^\\s@]*@/g',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/stream-failures.test.ts',
      title: 'is reported without the password of',
    },
  },
  {
    name: 'visitors see the password of a connection string in an error',
    edits: [
      {
        file: 'packages/dashboard/src/http/http-error.ts',
        find: ".replace(/\\b(password|pwd)=\\S+/gi, '$1=***')",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/stream-failures.test.ts',
      title: 'is reported without the password of',
    },
  },
  {
    name: 'a request that has not come as a whole keeps a dashboard from closing',
    edits: [
      {
        file: 'packages/dashboard/src/serve-dashboard.ts',
        find: '    server.closeAllConnections()\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/serving.test.ts',
      title: 'does not wait for the rest of a request',
    },
  },
  {
    name: 'proxies hold the events of a stream back',
    edits: [
      {
        file: 'packages/dashboard/src/routes.ts',
        find: "            'x-accel-buffering': 'no',\n",
        replace: '',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/streaming.test.ts',
      title: 'begins with a snapshot, and continues with changes',
    },
  },
  {
    name: 'failures are as old as those of the last name',
    edits: [
      {
        file: 'packages/dashboard/src/views/failure-groups.ts',
        find: 'group.lastAt = Math.max(group.lastAt ?? failedAt, failedAt)',
        replace: 'group.lastAt = failedAt',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/failures.test.ts',
      title: 'are as recent as the last of them',
    },
  },
  {
    name: 'a link that signs in has the token as it is',
    edits: [
      {
        file: 'packages/dashboard/src/serve-dashboard.ts',
        find: 'encodeURIComponent(token)',
        replace: 'token',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/serving.test.ts',
      title: 'leads to where one signs in',
    },
  },
  {
    name: 'an error of the command line as a document shows a password',
    edits: [
      {
        file: 'packages/cli/src/output/report-error.ts',
        find: 'message: secrets.redact(message)',
        replace: 'message',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'PGPASSWORD',
    },
  },
  {
    name: 'the stack of an error of the command line shows a password',
    edits: [
      {
        file: 'packages/cli/src/output/report-error.ts',
        find: 'secrets.redact(stacksOf(error)).split',
        replace: 'stacksOf(error).split',
      },
    ],
    finder: {
      file: 'packages/cli/test/calling.test.ts',
      title: 'PGPASSWORD',
    },
  },
  {
    name: 'top prints names that a terminal obeys',
    edits: [
      {
        file: 'packages/cli/src/rows/top-screen.ts',
        find: 'cutMiddle(shown(queue), nameWidth)',
        replace: 'cutMiddle(queue, nameWidth)',
      },
    ],
    finder: {
      file: 'packages/cli/test/top-screen.test.ts',
      title: 'shows no name that a terminal obeys',
    },
  },
  {
    name: 'ls prints errors that a terminal obeys',
    edits: [
      {
        file: 'packages/cli/src/rows/key-columns.ts',
        find: 'return oneLine(',
        replace: 'return String(',
      },
    ],
    finder: {
      file: 'packages/cli/test/looking.test.ts',
      title: 'a list says when each key runs next',
    },
  },
  {
    name: 'a drain that was interrupted says that the queue is drained',
    edits: [
      {
        file: 'packages/cli/src/commands/queues/wait-until.ts',
        find: '    if (signal.aborted) return\n',
        replace: '',
      },
    ],
    finder: {
      file: 'packages/cli/test/watching.test.ts',
      title: 'drain that is interrupted',
    },
  },
  {
    name: 'the page of a queue in use reads the names of all queues',
    edits: [
      {
        file: 'packages/dashboard/src/views/queue-view.ts',
        find: 'if (isInUse || !store.capabilities.queues)',
        replace: 'if (!store.capabilities.queues)',
      },
    ],
    finder: {
      file: 'packages/dashboard/test/views.test.ts',
      title: 'does not read the names of all queues',
    },
  },
]
