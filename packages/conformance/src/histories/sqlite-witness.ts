import { DatabaseSync } from 'node:sqlite'
import type { Witness } from './witness.ts'

/**
 * A witness with a unique index in its own SQLite database, in memory or in a file that several
 * processes open.
 */
export function sqliteWitness(file = ':memory:'): Witness {
  const database = new DatabaseSync(file)
  database.exec('pragma busy_timeout = 5000')
  database.exec('create table if not exists at_work (key text primary key, client text) strict')
  const enter = database.prepare('insert into at_work (key, client) values (?, ?)')
  const leave = database.prepare('delete from at_work where key = ?')
  return {
    enter(key, client) {
      enter.run(key, client)
    },
    leave(key) {
      leave.run(key)
    },
    close() {
      database.close()
    },
  }
}
