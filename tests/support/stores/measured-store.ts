import { DatabaseSync } from 'node:sqlite'
import type { Driver } from '@sluice/core'
import { postgresDriver } from '@sluice/postgres'
import { sqliteDriver } from '@sluice/sqlite'
import pg from 'pg'

/** How much was done so far, and how much of it for histories. */
export interface Work {
  readonly all: number
  readonly history: number
}

/** A store that tells what its history costs. */
export interface MeasuredStore {
  /** A driver that nothing else uses: a queue closes its driver. */
  connect(): Driver
  /** What {@link Work} counts. */
  readonly unit: string
  work(): Promise<Work>
  /** The size of the tables of histories, with indexes and dead rows. */
  bytes(): Promise<number>
  /** Does what the store does on its own, now and then, in the time that a test leaves out. */
  sweep(): Promise<void>
  close(): Promise<void>
}

/** Tables of histories, and the counts of keys, which only histories need in what is measured. */
const isHistory = /history|failed_runs|from sluice_keys indexed by sluice_keys_idle\b[\s\S]*\) idle/

/** A file of SQLite that counts the statements that are executed. */
export class HistoryOnSqlite implements MeasuredStore {
  readonly unit = 'statements'
  readonly #database: DatabaseSync
  #work: Work = { all: 0, history: 0 }

  constructor(file: string) {
    this.#database = new DatabaseSync(file)
  }

  connect(): Driver {
    const database = this.#database
    const count = (sql: string): void => {
      const { all, history } = this.#work
      this.#work = { all: all + 1, history: history + (isHistory.test(sql) ? 1 : 0) }
    }
    const counting = {
      prepare(sql: string) {
        const statement = database.prepare(sql)
        return new Proxy(statement, {
          get(target, name) {
            const member = Reflect.get(target, name) as unknown
            if (typeof member !== 'function') return member
            return (...values: unknown[]) => {
              if (name === 'run' || name === 'get' || name === 'all') count(sql)
              return member.apply(target, values) as unknown
            }
          },
        })
      },
      exec(sql: string) {
        count(sql)
        database.exec(sql)
      },
      // The driver did not open it.
      close: () => undefined,
    }
    return sqliteDriver({ database: counting, exclusive: true, durability: 'process' })
  }

  async work(): Promise<Work> {
    return await Promise.resolve(this.#work)
  }

  async bytes(): Promise<number> {
    const number = (sql: string): number =>
      Object.values(this.#database.prepare(sql).get() ?? {})[0] as number
    const pages = number('pragma page_count') - number('pragma freelist_count')
    return await Promise.resolve(pages * number('pragma page_size'))
  }

  async sweep(): Promise<void> {
    await Promise.resolve()
  }

  async close(): Promise<void> {
    this.#database.close()
    await Promise.resolve()
  }
}

/** A schema of Postgres whose server counts the rows that are written. */
export class HistoryOnPostgres implements MeasuredStore {
  readonly unit = 'written rows'
  readonly #client: pg.Client

  readonly #url: string
  /** The number of the newest failed run when dead rows were last removed. */
  #sweptAt = 0

  private constructor(url: string, client: pg.Client) {
    this.#url = url
    this.#client = client
  }

  static async open(url: string): Promise<HistoryOnPostgres> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return new HistoryOnPostgres(url, client)
  }

  connect(): Driver {
    return postgresDriver({ connectionString: this.#url, schema: 'sluice', onWarning() {} })
  }

  async work(): Promise<Work> {
    // The server publishes its counters when a session has been idle for a second.
    // real time: this waits for the server.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const { rows } = await this.#client.query<{ table: string; rows: string }>(
      `select relname as table, n_tup_ins + n_tup_upd + n_tup_del as rows
       from pg_stat_user_tables where schemaname = 'sluice'`,
    )
    const sum = (some: typeof rows): number => some.reduce((all, row) => all + Number(row.rows), 0)
    return { all: sum(rows), history: sum(rows.filter(({ table }) => isHistory.test(table))) }
  }

  async bytes(): Promise<number> {
    const { rows } = await this.#client.query<{ bytes: string }>(
      `select pg_total_relation_size('sluice.history') +
         pg_total_relation_size('sluice.failed_runs') as bytes`,
    )
    return Number(rows[0]?.bytes)
  }

  /** Autovacuum comes once a thousand rows are dead, but not in the seconds that a day takes here. */
  async sweep(): Promise<void> {
    const { rows } = await this.#client.query<{ id: string }>(
      `select coalesce(max(id), 0) as id from sluice.failed_runs`,
    )
    const id = Number(rows[0]?.id)
    if (id < this.#sweptAt + 1_000) return
    this.#sweptAt = id
    await this.#client.query('vacuum sluice.history, sluice.failed_runs')
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
