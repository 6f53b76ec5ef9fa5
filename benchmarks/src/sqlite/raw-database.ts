/** What the loops that are compared with use of better-sqlite3. */
export interface RawDatabase {
  prepare(sql: string): {
    run(...values: unknown[]): unknown
    get(...values: unknown[]): unknown
    all(...values: unknown[]): unknown[]
  }
  exec(sql: string): unknown
  close(): unknown
}
