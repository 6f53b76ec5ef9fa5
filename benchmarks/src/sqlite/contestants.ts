import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { type Durability, sqliteDriver } from '../../../packages/sqlite/src/index.ts'
import { OurStatements } from './our-statements.ts'
import type { RawDatabase } from './raw-database.ts'

/** What there is to do, and where. */
export interface Task {
  readonly folder: string
  readonly durability: Durability
  readonly keys: readonly string[]
  /** The time that counts, in milliseconds. */
  clockMs(): number
}

/** How long each part took, in milliseconds. */
export interface Parts {
  readonly add: number
  readonly rest: number
}

/** One way of adding keys, taking them and finishing them. */
export type Contestant = (task: Task) => Promise<Parts>

const addBatch = 1_000
const claimBatch = 100

// Where our driver finds it, so that all sides run the same SQLite.
const requireThere = createRequire(
  new URL('../../../packages/sqlite/package.json', import.meta.url),
)
const Database = requireThere('better-sqlite3') as new (path: string) => RawDatabase

/** Opens a database as the other sides do, with the same SQLite. */
export function openRaw(task: Task, name: string): RawDatabase {
  const database = new Database(join(task.folder, name))
  const synchronous = task.durability === 'power' ? 'full' : 'normal'
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`)
  return database
}

function* batchesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/** Adds one key. */
const insertText: string =
  'insert into jobs (key, item, priority, ready_at) values (?, ?, ?, ?) on conflict do nothing'

/** The database of a loop written by hand. */
function openHandWritten(task: Task): RawDatabase {
  const database = openRaw(task, 'hand-written.db')
  database.exec(
    `create table jobs (
       id integer primary key, key text not null unique, item text,
       priority integer not null default 0, ready_at real not null,
       token integer, lease_until real
     );
     create index jobs_ready on jobs (priority desc, ready_at, id) where token is null`,
  )
  return database
}

/**
 * What one would write by hand for the same rows: a key only once, priorities, delays, a token and
 * a lease; in batches, every batch a transaction, every statement prepared once. It knows neither
 * what to do with a key that is asked for while it is worked on, nor failures, nor waiting.
 */
const handWritten: Contestant = async (task) => {
  const database = openHandWritten(task)
  const begin = database.prepare('begin immediate')
  const commit = database.prepare('commit')
  const insert = database.prepare(insertText)
  const claim = database.prepare(
    `update jobs set token = ?, lease_until = ?
     where id in (
       select id from jobs where token is null and ready_at <= ?
       order by priority desc, ready_at, id limit ?
     )
     returning id, key, item, priority`,
  )
  const remove = database.prepare('delete from jobs where id = ? and token = ?')
  const startedAt = task.clockMs()
  for (const batch of batchesOf(task.keys, addBatch)) {
    begin.run()
    const now = Date.now()
    for (const key of batch) insert.run(key, null, 0, now)
    commit.run()
  }
  const addedAt = task.clockMs()
  for (let token = 1; ; token += 1) {
    begin.run()
    const now = Date.now()
    const rows = claim.all(token, now + 30_000, now, claimBatch) as { readonly id: number }[]
    commit.run()
    if (rows.length === 0) break
    begin.run()
    for (const { id } of rows) remove.run(id, token)
    commit.run()
  }
  const endedAt = task.clockMs()
  database.close()
  return { add: addedAt - startedAt, rest: endedAt - addedAt }
}

/** The statements of the driver, and nothing around them: the least that its rows take. */
const statements: Contestant = async (task) => {
  const ours = await OurStatements.open(task, (name) => openRaw(task, name))
  const startedAt = task.clockMs()
  for (const batch of batchesOf(task.keys, addBatch)) ours.addMany(batch)
  const addedAt = task.clockMs()
  while (ours.claimAndFinish(claimBatch) > 0);
  const endedAt = task.clockMs()
  ours.close()
  return { add: addedAt - startedAt, rest: endedAt - addedAt }
}

const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

const driver: Contestant = async (task) => {
  const store = sqliteDriver({
    file: join(task.folder, 'driver.db'),
    durability: task.durability,
    library: 'better-sqlite3',
  })
  await store.open({})
  const startedAt = task.clockMs()
  for (const batch of batchesOf(task.keys, addBatch)) {
    await store.add(
      'q',
      batch.map((key) => ({ key, item: undefined, priority: 0, delayMs: 0 })),
      options,
    )
  }
  const addedAt = task.clockMs()
  for (let count = 1; ; count += 1) {
    const { claims } = await store.claim('q', {
      limit: claimBatch,
      holder: 'a-holder-of-36-characters-more-or-less',
      claimId: `a-holder-of-36-characters-more-or-less/${count}`,
      leaseMs: 30_000,
    })
    if (claims.length === 0) break
    await store.finish(
      'q',
      claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
      options,
    )
  }
  const endedAt = task.clockMs()
  await store.close()
  return { add: addedAt - startedAt, rest: endedAt - addedAt }
}

const queue: Contestant = async (task) => {
  const file = join(task.folder, 'queue.db')
  const jobs = createQueue<string>({
    name: 'q',
    driver: sqliteDriver({ file, durability: task.durability, library: 'better-sqlite3' }),
  })
  await jobs.len()
  const startedAt = task.clockMs()
  for (const batch of batchesOf(task.keys, addBatch)) await jobs.addMany(batch)
  const addedAt = task.clockMs()
  let left = task.keys.length
  while (left > 0) {
    const held = await jobs.getMany(Math.min(left, claimBatch))
    left -= held.length
    await jobs.doneMany(held)
  }
  const endedAt = task.clockMs()
  await jobs.close()
  return { add: addedAt - startedAt, rest: endedAt - addedAt }
}

/** A worker with its defaults, and handlers that do nothing. */
const worker =
  (concurrency: number): Contestant =>
  async (task) => {
    const file = join(task.folder, `worker-${concurrency}.db`)
    const jobs = createQueue<string>({
      name: 'q',
      driver: sqliteDriver({ file, durability: task.durability, library: 'better-sqlite3' }),
    })
    await jobs.len()
    const startedAt = task.clockMs()
    for (const batch of batchesOf(task.keys, addBatch)) await jobs.addMany(batch)
    const addedAt = task.clockMs()
    let left = task.keys.length
    const started = Promise.withResolvers<void>()
    const running = createWorker({
      queue: jobs,
      concurrency,
      handler: async () => {
        left -= 1
        if (left === 0) started.resolve()
      },
    })
    await started.promise
    // When it has stopped, the store has acknowledged everything.
    await running.stop()
    const endedAt = task.clockMs()
    await jobs.close()
    return { add: addedAt - startedAt, rest: endedAt - addedAt }
  }

interface PlainQueue {
  add(type: string, data: unknown): unknown
  addMany(type: string, data: unknown[]): unknown
  countJobs(of: { readonly status: number }): number
  close(): void
}

interface PlainWorker {
  start(): Promise<void>
  stop(): Promise<void>
}

interface Plainjob {
  better(database: unknown): unknown
  defineQueue(options: object): PlainQueue
  defineWorker(type: string, run: () => Promise<void>, options: object): PlainWorker
}

/** Says nothing. */
export const quiet = { error() {}, warn() {}, info() {}, debug() {} }

/** The rival, from where it is installed. */
export async function loadPlainjob(): Promise<Plainjob> {
  const requireHere = createRequire(import.meta.url)
  const url = pathToFileURL(requireHere.resolve('plainjob')).href
  return (await import(url)) as Plainjob
}

const plainjob: Contestant = async (task) => {
  const { better, defineQueue, defineWorker } = await loadPlainjob()
  const database = openRaw(task, 'plainjob.db')
  const jobs = defineQueue({ connection: better(database), logger: quiet })
  const startedAt = task.clockMs()
  for (const batch of batchesOf(task.keys, addBatch)) jobs.addMany('job', [...batch])
  const addedAt = task.clockMs()
  let left = task.keys.length
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const worker = defineWorker('job', async () => {}, {
    queue: jobs,
    logger: quiet,
    onCompleted: () => {
      left -= 1
      if (left === 0) finish()
    },
  })
  const working = worker.start()
  await finished
  const endedAt = task.clockMs()
  await worker.stop()
  await working
  jobs.close()
  return { add: addedAt - startedAt, rest: endedAt - addedAt }
}

/** The contestant that all others are compared with. */
export const yardstick = 'hand-written loop'

/** What is measured, each with the share of the keys that it gets. */
export const contestants: Readonly<
  Record<string, { readonly run: Contestant; readonly share: number }>
> = {
  [yardstick]: { run: handWritten, share: 1 },
  'the statements of the driver': { run: statements, share: 1 },
  'driver, in batches': { run: driver, share: 1 },
  'queue, in batches': { run: queue, share: 1 },
  'worker, concurrency 10': { run: worker(10), share: 1 },
  'worker, concurrency 24': { run: worker(24), share: 1 },
  plainjob: { run: plainjob, share: 0.1 },
}
