// Adds that are not made in batches: each awaited before the next, and many at the same time.
import { join } from 'node:path'
import { createQueue } from '../../../packages/queue/src/index.ts'
import { sqliteDriver } from '../../../packages/sqlite/src/index.ts'
import { loadPlainjob, openRaw, quiet, type Task } from './contestants.ts'
import { OurStatements } from './our-statements.ts'

/** Adds the keys of a task one by one; gives how long that took, in milliseconds. */
type Adding = (task: Task) => Promise<number>

/** The same columns and indexes as ours: those of a store of ours. */
const upsertText = `insert into sluice_keys
    (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, item)
  values (1, ?, ?, 0, ?, ?, ?, ?, ?)
  on conflict (queue, key) do update set
    item = excluded.item, due_at = min(due_at, excluded.due_at),
    ready_at = min(ready_at, excluded.ready_at), priority = max(priority, excluded.priority)
  returning key, due_at, failures`

const handWritten: Adding = async (task) => {
  const store = sqliteDriver({ file: join(task.folder, 'hand.db'), library: 'better-sqlite3' })
  await store.open({})
  await store.close()
  const database = openRaw(task, 'hand.db')
  const upsert = database.prepare(upsertText)
  const startedAt = task.clockMs()
  for (const [seq, key] of task.keys.entries()) {
    const now = Date.now()
    // Not `get`, which leaves the statement before its end: SQLite would never checkpoint, and the log
    // would grow by 14 KiB with each add.
    upsert.all(key, now, now, seq, 0, now, null)
  }
  const ms = task.clockMs() - startedAt
  database.close()
  return ms
}

const statements: Adding = async (task) => {
  const ours = await OurStatements.open(task, (name) => openRaw(task, name))
  const startedAt = task.clockMs()
  for (const key of task.keys) ours.add(key)
  const ms = task.clockMs() - startedAt
  ours.close()
  return ms
}

async function withQueue(
  task: Task,
  add: (queue: ReturnType<typeof createQueue<string>>) => Promise<unknown>,
): Promise<number> {
  const file = join(task.folder, 'queue.db')
  const queue = createQueue<string>({
    name: 'q',
    driver: sqliteDriver({ file, durability: task.durability, library: 'better-sqlite3' }),
  })
  await queue.len()
  const startedAt = task.clockMs()
  await add(queue)
  const ms = task.clockMs() - startedAt
  await queue.close()
  return ms
}

const awaited: Adding = (task) =>
  withQueue(task, async (queue) => {
    for (const key of task.keys) await queue.add(key)
  })

const together: Adding = (task) =>
  withQueue(task, async (queue) => {
    for (let at = 0; at < task.keys.length; at += 1_000) {
      await Promise.all(task.keys.slice(at, at + 1_000).map((key) => queue.add(key)))
    }
  })

const plainjob: Adding = async (task) => {
  const { better, defineQueue } = await loadPlainjob()
  const jobs = defineQueue({ connection: better(openRaw(task, 'plainjob.db')), logger: quiet })
  const startedAt = task.clockMs()
  for (const key of task.keys) jobs.add('job', key)
  const ms = task.clockMs() - startedAt
  jobs.close()
  return ms
}

/** The one that all are compared with, and all the others. */
export const singles: Readonly<Record<string, Adding>> = {
  'prepared upsert by hand': handWritten,
  'the statements of the driver': statements,
  'queue, each awaited': awaited,
  'queue, 1,000 at the same time': together,
  plainjob,
}
