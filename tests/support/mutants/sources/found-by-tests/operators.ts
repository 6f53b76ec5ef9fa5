import type { FoundByTest } from '../source-mutant.ts'

function of(
  name: string,
  [source, find, replace]: readonly [string, string, string],
  [tests, title]: readonly [string, string],
): FoundByTest {
  const [folder] = source.split('/') as [string]
  const edits = [{ file: `packages/${source}`, find, replace }]
  return { name, edits, finder: { file: `packages/${folder}/test/${tests}.test.ts`, title } }
}

const visitors = 'dashboard/src/access/visitors.ts'
const origin = 'dashboard/src/http/check-origin.ts'

/** Defects of what an operator may see and do, on the dashboard and the command line, and in metrics. */
export const foundByTestsOfOperators: readonly FoundByTest[] = [
  of(
    'a visitor whom the application calls the empty string is trusted',
    [visitors, "typeof who !== 'string' || who === ''", "typeof who !== 'string'"],
    ['access', 'is for visitors that the application trusts, under the names that it returns'],
  ),
  of(
    'processes with one secret reject the pages of each other',
    [
      visitors,
      "'token' in auth ? auth.token : auth.secret",
      "'token' in auth ? auth.token : undefined",
    ],
    ['access', 'is taken by every process with the secret of the one that showed the page'],
  ),
  of(
    'a secret that can be guessed is taken',
    [
      'dashboard/src/settings.ts',
      "if (secret !== undefined) checkSecret('auth.secret', secret)",
      '',
    ],
    ['access', 'are refused by name, and secrets are not repeated'],
  ),
  of(
    'a view that was being read during an action is given to those who ask after it',
    [
      'dashboard/src/live/watch.ts',
      'if (!this.#isOutdated) this.#latest = view',
      'this.#latest = view',
    ],
    ['watch', 'a view that was being read during an action is given to nobody who asks after it'],
  ),
  of(
    'who asks during a read for the view after an action gets that of this read',
    [
      'dashboard/src/live/watch.ts',
      'if (this.#isOutdated) await this.#reading?.catch(() => {})\n',
      '',
    ],
    ['watch', 'a view that was being read during an action is given to nobody who asks after it'],
  ),
  of(
    'after an action during a read the next view comes a second later',
    [
      'dashboard/src/live/watch.ts',
      'this.#isOutdated && this.#trouble === undefined ? 0 : waitMs',
      'waitMs',
    ],
    ['watch', 'after an action during a read, the readers of a stream get the next view at once'],
  ),
  of(
    'after an action a visitor gets the view from before it',
    [
      'dashboard/src/live/watch.ts',
      'this.#latest = undefined\n    this.#isOutdated = true',
      'this.#isOutdated = true',
    ],
    ['watch', 'a view that takes long is kept for a while, but not across an action'],
  ),
  of(
    'a sign-in fails at a time with fractions',
    [visitors, 'Math.floor(this.#clock.now() + sessionMs)', 'this.#clock.now() + sessionMs'],
    ['sign-in', 'lasts also if the time of a clock has fractions of a millisecond'],
  ),
  of(
    'sessions that were signed out are remembered without a limit',
    [visitors, ' && this.#signedOut.size <= endedMax', ''],
    [
      'sign-in',
      'is remembered until the session would have expired, and of at most 10,000 sessions',
    ],
  ),
  of(
    'the cookie of a dashboard that speaks TLS itself goes over plain HTTP, too',
    [visitors, "request.url.startsWith('https:') ||", 'false ||'],
    ['sign-in', 'gives a cookie that scripts and other sites never get'],
  ),
  of(
    'forms of other pages are answered',
    [origin, "request.method !== 'GET' && request.method !== 'HEAD'", 'false'],
    ['access', 'answers those who follow a link to it, and no form of another page'],
  ),
  of(
    'a link of another page to the dashboard is refused',
    [
      origin,
      "site === 'none' || request.headers.get('sec-fetch-mode') === 'navigate'",
      "site === 'none'",
    ],
    ['access', 'answers those who follow a link to it, and no form of another page'],
  ),
  of(
    'answers of the dashboard may be cached',
    [origin, "response.headers.set('cache-control', 'no-store')", 'void 0'],
    ['access', 'protects every response by its headers, errors too'],
  ),
  of(
    'every file of the page is loaded each time',
    [origin, "if (!response.headers.has('cache-control')) ", ''],
    ['page-files', 'are served below the base path, each with its own time to be cached'],
  ),
  of(
    'onError is called for what visitors are refused',
    ['dashboard/src/create-dashboard.ts', 'if (response.status === 500) report', 'report'],
    ['access', 'takes a POST only as JSON, and not too much of it'],
  ),
  of(
    'a dashboard that is closed leaves its store open',
    [
      'dashboard/src/create-dashboard.ts',
      'closed ??= store.close()',
      'closed ??= Promise.resolve()',
    ],
    ['stream-ends', 'end with the dashboard, which can be closed twice, and closes its store'],
  ),
  of(
    'streams about a key contain its item',
    ['dashboard/src/create-dashboard.ts', 'name, detail, false)', 'name, detail, true)'],
    ['streaming', 'about a queue follows it, and about a key contains the observed steps'],
  ),
  of(
    'a stream about a queue without its name is one of all queues',
    [
      'dashboard/src/routes.ts',
      "about === 'failures' ? query.queueIfAny",
      'about ? query.queueIfAny',
    ],
    ['streaming', 'about a queue or a key names it'],
  ),
  of(
    'a chart shows a step that has only begun',
    [
      'dashboard/client/src/chart/chart-shapes.ts',
      'elapsed < Math.min(stepMs, youngMs)',
      'elapsed < 0',
    ],
    ['page-figures', 'show rates per second of each step, and the one that is not over once it is'],
  ),
  of(
    'a release ends a later run than the one that was seen',
    [
      'dashboard/src/actions/act.ts',
      'token === undefined ? {} : { token }',
      'token === undefined ? {} : {}',
    ],
    ['acting', 'releases the run that was seen, and no later one'],
  ),
  of(
    'a body that is not UTF-8 is read as if it were',
    ['dashboard/src/http/json-body.ts', 'fatal: true', 'fatal: false'],
    ['access', 'takes a POST only as JSON, and not too much of it'],
  ),
  of(
    'run-now --all resets failures and ends no delay',
    ['cli/src/commands/keys/run-now.ts', 'selection.runNow(options)', 'selection.forget(options)'],
    ['key-verbs', 'each verb does to all keys what it does to named ones'],
  ),
  of(
    'unpark --all --forget keeps the failures',
    ['cli/src/commands/keys/unpark.ts', '{ ...options, ...forget(input) }', 'options'],
    ['key-verbs', 'each verb does to all keys what it does to named ones'],
  ),
  of(
    'top sorts by another column than it says',
    ['cli/src/rows/top-screen.ts', 'rates?.waitP95Ms ?? -1', 'rates?.workP95Ms ?? -1'],
    ['top-screen', 'sorts by the figures of every column, the highest first, and then by name'],
  ),
  of(
    'a file that cannot be imported fails with the error of the system alone',
    [
      'cli/src/commands/stores/import-lines.ts',
      'throw unreadable(',
      'throw (error as Error) ?? unreadable(',
    ],
    ['calling', 'a file that cannot be imported is named'],
  ),
  of(
    'a password with a stray % makes every command fail with another error',
    [
      'cli/src/stores/secrets.ts',
      '} catch {\n    return text\n  }',
      '} finally {\n    void text\n  }',
    ],
    ['calling', 'that has a % which encodes nothing'],
  ),
  of(
    'a dashboard that is served on an address answers under every local name',
    [
      'dashboard/src/serve-dashboard.ts',
      '= loopback.has(host) || isAny ? undefined : [own] }',
      '= undefined }',
    ],
    ['serving', 'answers under its address, and no other'],
  ),
  of(
    'errors of redactError are reported nowhere',
    ['dashboard/src/views/key-display.ts', 'this.#report(failure)', ''],
    ['views', 'pass redaction wherever they are shown'],
  ),
  of(
    'a page of keys with a filter is the last one although there are more',
    [
      'dashboard/src/views/find-keys.ts',
      'cursor !== undefined || info !== page.keys.at(-1)',
      'cursor !== undefined',
    ],
    [
      'failures',
      'are pages of keys, each key once, also where one read of the store fills several',
    ],
  ),
  of(
    'unparking many keys forgets no failures',
    ['dashboard/src/actions/act.ts', 'selection.unpark({ forget })', 'selection.unpark({})'],
    ['acting', 'says what became of an add, and forgets the failures of many'],
  ),
  of(
    'an answer with a y in it confirms',
    ['cli/src/run.ts', '/^y(?:es)?$/i.test(answer.trim())', '/y/i.test(answer)'],
    ['key-verbs', 'on a terminal it asks, and every answer but yes is no'],
  ),
  of(
    'add-after drops the priority',
    [
      'cli/src/commands/keys/add-after.ts',
      '...(priority === undefined ? {} : { priority })',
      '...(priority === undefined ? {} : {})',
    ],
    ['key-verbs', 'a delay is ended, and one is given with units'],
  ),
  of(
    'counts --exact counts to 10,000',
    ['cli/src/commands/inspect/counts.ts', "input.flag('exact') ? { cap: noCap } : {}", '{}'],
    ['key-verbs', 'counts end at 10,000 keys of a state, unless they are to be exact'],
  ),
  of(
    'doctor of Redis looks at the default prefix',
    [
      'cli/src/commands/stores/doctor.ts',
      'examine({ url, prefix, oneSlot })',
      'examine({ url, oneSlot })',
    ],
    ['doctor', 'checks the queues of a prefix of Redis'],
  ),
  of(
    'doctor --strict passes warnings',
    ['cli/src/commands/stores/doctor.ts', "(input.flag('strict') && level === 'warning')", 'false'],
    ['doctor', 'warns of a log that has grown'],
  ),
  of(
    'sluice wait ends while a key is held that was added again',
    [
      'cli/src/commands/queues/wait-until.ts',
      'const held = processing + dirty',
      'const held = processing',
    ],
    ['watching', 'drain waits for a key that is held'],
  ),
  of(
    'an action of the dashboard changes as many keys as are confirmed',
    ['dashboard/src/actions/act.ts', 'Math.min(expected, bulkMax)', 'expected'],
    ['acting', 'changes no more than 10,000 keys'],
  ),
  of(
    'a dashboard refuses its own address as browsers write it',
    ['dashboard/src/http/check-origin.ts', '.hostname + port', ' && name + port'],
    ['serving', 'an address that browsers write in another way'],
  ),
  of(
    'a copy does not end when it is interrupted',
    ['cli/src/commands/stores/copy.ts', '      signal.throwIfAborted()\n', ''],
    ['moving', 'ends when it is interrupted, and is safe to repeat'],
  ),
  of(
    'a benchmark that is interrupted leaves its queue in the store',
    ['cli/src/commands/stores/bench.ts', 'queue(queue).purge()', 'queue(queue).counts()'],
    ['moving', 'leaves no queue behind when it is interrupted'],
  ),
  of(
    'a process without a worker that ends is a worker that has vanished',
    ['cli/src/rows/store-events.ts', 'worker.concurrency === 0 || (current', '(current'],
    ['events', 'neither an unparked key nor a process without a worker that goes is an event'],
  ),
  of(
    'the second outage of a watched store is not reported',
    ['cli/src/rows/repeated-reads.ts', '      isFailing = false\n', ''],
    ['watching-outages', 'commands that watch say so once, and go on when it is back'],
  ),
  of(
    'queues on other drivers are traced, too, and the adds to them carry contexts',
    [
      'metrics/src/tracing.ts',
      'if (this.#driver !== undefined && this.#driver !== request.source) return\n',
      '',
    ],
    ['tracing', 'with the option driver, only its queues are traced'],
  ),
  of(
    'sluice events tells the last heartbeat of a worker as its start',
    ['cli/src/rows/store-events.ts', 'last === undefined ? worker.startedAt : ', ''],
    ['events', 'a worker that has started before the first look'],
  ),
  of(
    'a queue object that is closed resets the metrics of its queue',
    ['metrics/src/queue/queue-record.ts', '    if (this.isInUse(driver)) return\n', ''],
    ['client-go', 'a queue object that is closed takes nothing from another one of its queue'],
  ),
  of(
    'the page of a queue shows a worker that was stopped as gone',
    ['dashboard/src/views/queue-view.ts', 'isGone: concurrency > 0 && ', 'isGone: '],
    ['queue-and-key', 'shows who holds its keys, and which worker has not been heard of'],
  ),
  of(
    'the page of a key does not tell that it was added again while it ran',
    ['dashboard/src/views/key-history.ts', 'held?.dirtySince !== undefined', 'held === null'],
    ['queue-and-key', 'tells what has happened between two reads'],
  ),
  of(
    'the dashboard tells when the next of many keys is due, of those that it has read',
    ['dashboard/src/views/find-keys.ts', 'if (isCut) return first', 'void isCut'],
    ['views', 'is told where all keys that wait were read'],
  ),
  of(
    'the chart of all queues shows the ready keys of the last one',
    ['dashboard/src/views/chart-steps.ts', 'ready: sum.ready + step.ready,', 'ready: step.ready,'],
    ['chart-marks', 'of several queues are added up step by step'],
  ),
  of(
    'failures whose keys are gone do not say when the last one was',
    [
      'dashboard/src/views/failure-groups.ts',
      'group.lastAt = Math.max(group.lastAt ?? at, at)',
      'void at',
    ],
    ['failures', 'outlive their keys'],
  ),
  {
    name: 'doctor does not find that a Redis refuses changes for want of replicas',
    edits: [
      {
        file: 'packages/redis/src/doctor.ts',
        find: "info.get('min_slaves_good_slaves') ?? Infinity) <",
        replace: "info.get('min_slaves_good_slaves') ?? Infinity) ===",
      },
    ],
    finder: {
      file: 'packages/redis/test/doctor.test.ts',
      title: 'a server that refuses changes for want of replicas is a failure',
    },
  },
  {
    name: 'a store that was not open in time is reported without the error of the attempt before',
    edits: [
      {
        file: 'packages/queue/src/driver/driver-handle.ts',
        find: 'return notInTime(aim, undefined, this.#failure)',
        replace: 'return notInTime(aim)',
      },
    ],
    finder: {
      file: 'packages/queue/test/driver/outages.test.ts',
      title: 'a store that was not open in time is named with the error of the attempt before',
    },
  },
  {
    name: 'top has more lines than a short screen',
    edits: [
      {
        file: 'packages/cli/src/rows/top-screen.ts',
        find: 'Math.min(titleLinesMax, height - otherLinesMin)',
        replace: 'titleLinesMax',
      },
    ],
    finder: {
      file: 'packages/cli/test/top-screen.test.ts',
      title: 'lines, with the beginning of a warning',
    },
  },
]
