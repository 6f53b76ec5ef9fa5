import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  allCases,
  type Case,
  declaredReport,
  type QueueFactories,
  queueCases,
  type Report,
  renderMarkdown,
  type Subject,
  throughDirect,
} from '@sluice/conformance'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { type PgliteLike, postgresDriver } from '@sluice/postgres'
import { redisDriver } from '@sluice/redis'
import { sqliteDriver } from '@sluice/sqlite'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')
const clock = fakeClock()

/** A client that is never asked anything: only what a driver on it declares is looked at. */
const pglite = {
  dataDir: 'folder',
  query() {},
  exec() {},
  transaction() {},
  listen() {},
} as unknown as PgliteLike

interface Column {
  readonly name: string
  readonly subject: Subject
  /** The subject of a queue over the driver, if it is another one. */
  readonly ofQueue?: Subject
  readonly except?: Readonly<Record<string, string>>
}

/** Hooks that the examinations of the drivers give, and that are not called here. */
const hooks = {
  otherProcess: () => Promise.reject(new Error('no process is started here')),
  cutPower: () => Promise.reject(new Error('no power is cut here')),
} as const

const columns: readonly Column[] = [
  { name: 'memory', subject: { driver: memoryDriver(), clock } },
  {
    name: 'memory, direct queue',
    subject: { driver: throughDirect(memoryDriver()), clock },
    // A queue calls the driver's direct queue where it can, and its other verbs, such as `watch`.
    ofQueue: { driver: memoryDriver(), clock },
  },
  {
    name: 'SQLite',
    subject: { driver: sqliteDriver({ file: 'never-opened.db' }), clock, ...hooks },
  },
  {
    name: 'Postgres',
    subject: {
      driver: postgresDriver({ connectionString: 'postgres://nowhere/never-opened' }),
      clock,
      ...hooks,
    },
    except: {
      'clock.back.later-process':
        'a given clock is taken at its word; the time kept is the server’s',
    },
  },
  {
    name: 'Postgres behind a pooler',
    subject: {
      driver: postgresDriver({ connectionString: 'postgres://nowhere/never-opened' }),
      clock,
    },
    except: { 'concurrent.drivers.idle': 'where no notice arrives, a poll wakes each driver' },
  },
  {
    name: 'PGlite',
    subject: { driver: postgresDriver({ client: pglite }), clock },
    except: { 'key.exact': 'PGlite drops a byte order mark at the start of a text' },
  },
  {
    name: 'Redis',
    subject: {
      driver: redisDriver({ url: 'redis://nowhere' }),
      clock,
      otherProcess: hooks.otherProcess,
    },
  },
  {
    name: 'Redis Cluster',
    subject: { driver: redisDriver({ url: 'redis-cluster://nowhere' }), clock },
  },
]

const preface = `# What every driver promises

Made from the suite and from what the drivers declare; \`npm test -- conformance-page -u\` makes it
again. Each line is a case of [\`@sluice/conformance\`](../../packages/conformance/README.md), and the
tests of each driver run all of them: a promise that is said here to be kept, and is not, fails
those tests.

*kept*: the driver keeps the promise. *–*: the promise is about something that the driver declares
not to do. *not asked*: nothing was set up to ask it, such as a second process. *not met*: the driver
breaks the promise, and the reason is below. *memory, direct queue* is the same driver as *memory*, called
as queues of its own process call it: one key at a time, without a promise or a batch.

A driver of your own is examined in the same way: [Writing a driver](../guides/writing-a-driver.md).
What steps of a wall clock do to keys is measured: [Steps of the wall clock](../operating/clock-steps.md).

## The driver

`

const between = `
## The queue over a driver

The second half goes through the public queue, so that flushing, leases, wake-ups and shutdown are
examined with each driver too.

`

function reportsOn(cases: readonly Case[], shown: readonly Column[]): Report[] {
  const ids = new Set(cases.map(({ id }) => id))
  return shown.map(({ name, subject, except = {} }) => {
    const own = Object.entries(except).filter(([id]) => ids.has(id))
    return declaredReport(name, subject, cases, Object.fromEntries(own))
  })
}

test('the page of promises is the one that the suite makes', async () => {
  const throughQueue = columns
    .filter(({ name }) => !/PGlite|pooler|Cluster/.test(name))
    .map(({ ofQueue, ...column }) =>
      ofQueue === undefined ? column : { ...column, subject: ofQueue },
    )
  const heading = '###'
  const page = [
    preface,
    renderMarkdown(reportsOn(allCases, columns), { heading, note: 'd' }),
    between,
    renderMarkdown(reportsOn(queueCases({} as QueueFactories), throughQueue), {
      heading,
      note: 'q',
    }),
  ]
  const file = join(root, 'docs', 'reference', 'conformance.md')
  await expect(page.join('')).toMatchFileSnapshot(file)
})

test('no driver makes an exception that is not on the page', () => {
  const told = columns.flatMap(({ except = {} }) => Object.entries(except))
  // The folder of tests alone: tests of mutants make copies of the sources beside it, and delete them.
  const tests = readdirSync(join(root, 'packages')).flatMap((name) => {
    const folder = join(root, 'packages', name, 'test')
    if (name === 'conformance' || !existsSync(folder)) return []
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /(?:^|\/)conformance[\w-]*\.test\.ts$/.test(path))
      .map((path) => join(folder, path))
  })
  expect(tests.length).toBeGreaterThan(4)
  for (const path of tests) {
    const text = readFileSync(path, 'utf8')
    for (const [, body = ''] of text.matchAll(/\bexcept\s*:\s*\{([^}]*)\}/g)) {
      for (const [, id = '', why = ''] of body.matchAll(/'([^']+)'\s*:\s*'([^']+)'/g)) {
        expect(told, path).toContainEqual([id, why])
      }
    }
  }
})
