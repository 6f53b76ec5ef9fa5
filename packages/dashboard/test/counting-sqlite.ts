import { createRequire } from 'node:module'
import type { SqliteDatabase, SqliteStatement, SqliteValue } from '@sluice/sqlite'

const requireHere = createRequire(import.meta.url)

/** The statements sent to a database. */
export interface Asked {
  statements: number
  /** Rows that came back. */
  rows: number
  /** Each text that was run, once. */
  readonly texts: Set<string>
}

/** Reads one row, the last of its table, although query plans say that it scans. */
const lastRow = 'select k.seq from sluice_keys k order by k.id desc limit 1'

/** A real database that counts its statements. */
export class CountingDatabase implements SqliteDatabase {
  readonly inner: SqliteDatabase
  asked: Asked = { statements: 0, rows: 0, texts: new Set() }

  constructor(file: string) {
    this.inner = new (requireHere('better-sqlite3'))(file) as SqliteDatabase
  }

  #count(sql: string, rows: number): void {
    this.asked.statements += 1
    this.asked.rows += rows
    this.asked.texts.add(sql)
  }

  prepare(sql: string): SqliteStatement {
    const statement = this.inner.prepare(sql)
    const count = (rows: number): void => this.#count(sql, rows)
    return {
      run(...values: SqliteValue[]) {
        count(0)
        return statement.run(...values)
      },
      get(...values: SqliteValue[]) {
        count(1)
        return statement.get(...values)
      },
      all(...values: SqliteValue[]) {
        const rows = statement.all(...values)
        count(rows.length)
        return rows
      },
    }
  }

  exec(sql: string): unknown {
    this.#count(sql, 0)
    return this.inner.exec(sql)
  }

  close(): unknown {
    return this.inner.close()
  }

  /** Counts from zero. */
  reset(): void {
    this.asked = { statements: 0, rows: 0, texts: new Set() }
  }

  /** The statements that scan the table of keys, according to the query plans of those that ran. */
  scans(): string[] {
    return [...this.asked.texts].filter((sql) => {
      if (!/^\s*(select|with|update|delete|insert)/i.test(sql)) return false
      const values = Array<number>((sql.match(/\?/g) ?? []).length).fill(1)
      const text = sql.replace(lastRow, 'select 1')
      const rows = this.inner.prepare(`explain query plan ${text}`).all(...values)
      const plan = (rows as { readonly detail: string }[]).map(({ detail }) => detail).join('\n')
      return /SCAN (sluice_keys|k\b)/.test(plan)
    })
  }
}
