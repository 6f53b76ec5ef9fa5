import { join } from 'node:path'
import { systemClock } from '../../../packages/core/src/index.ts'
import { FolderChanges } from '../../../packages/sqlite/src/connection/folder-changes.ts'
import { sqliteDriver } from '../../../packages/sqlite/src/index.ts'
import { statementTexts } from '../../../packages/sqlite/src/statements.generated.ts'
import type { Task } from './contestants.ts'
import type { RawDatabase } from './raw-database.ts'

type Statement = ReturnType<RawDatabase['prepare']>

/** The number of the queue in the file, the first one. */
const queue = 1

/**
 * A store of ours without the driver: its statements as they follow one another where nothing is
 * stored of the keys before, nothing fails and no other process is there.
 */
export class OurStatements {
  readonly #database: RawDatabase
  readonly #folder: FolderChanges
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #statements: Readonly<Record<keyof typeof statementTexts, Statement>>
  #seq = 0
  #token = 1

  private constructor(database: RawDatabase, folder: string) {
    this.#database = database
    database.exec('pragma wal_autocheckpoint = 4000; pragma cache_size = -32000')
    database.exec("insert into sluice_queues (name) values ('q')")
    this.#folder = new FolderChanges(folder, systemClock)
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    const prepared = Object.entries(statementTexts).map(
      ([name, text]) => [name, database.prepare(text)] as const,
    )
    this.#statements = Object.fromEntries(prepared) as Record<
      keyof typeof statementTexts,
      Statement
    >
  }

  static async open(task: Task, openRaw: (name: string) => RawDatabase): Promise<OurStatements> {
    const file = join(task.folder, 'statements.db')
    const store = sqliteDriver({ file, library: 'better-sqlite3' })
    await store.open({})
    await store.close()
    return new OurStatements(openRaw('statements.db'), task.folder)
  }

  /** What each transaction begins with. */
  #start(): number {
    this.#begin.run()
    this.#statements.storeRead.get('q')
    return Date.now()
  }

  /** What each transaction ends with: whether the log is still there is looked up after each commit. */
  #end(): void {
    this.#commit.run()
    this.#folder.hasNone()
  }

  add(key: string): void {
    const now = this.#start()
    this.#seq += 1
    this.#statements.addOne.run(queue, key, now, 0, now, this.#seq, 0, now, null, null)
    this.#end()
  }

  addMany(keys: readonly string[]): void {
    const now = this.#start()
    const text = JSON.stringify(keys)
    this.#statements.addKeys.run(queue, 0, this.#seq + 1, 0, now, null, now, text)
    this.#seq += keys.length
    this.#end()
  }

  /** Claims up to `limit` keys, and finishes them; returns how many. */
  claimAndFinish(limit: number): number {
    const now = this.#start()
    const { claimCandidates, claimTake, storeSave, finishDoneForget } = this.#statements
    const rows = claimCandidates.all(queue, 0, now, now, limit) as readonly {
      readonly id: number
      readonly key: string
    }[]
    const first = this.#token
    this.#token += rows.length
    claimTake.run(first, now + 30_000, 1, 1, JSON.stringify(rows.map(({ id }) => id)))
    this.#seq += 1
    storeSave.run(this.#token, this.#seq, 0, now)
    this.#end()
    const then = this.#start()
    for (const [index, { key }] of rows.entries()) finishDoneForget.run(queue, key, first + index)
    this.#seq += 1
    storeSave.run(this.#token, this.#seq, 0, then)
    this.#end()
    return rows.length
  }

  close(): void {
    this.#folder.close()
    this.#database.close()
  }
}
