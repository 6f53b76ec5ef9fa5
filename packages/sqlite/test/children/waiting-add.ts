/** Adds a key, with nothing but that which keeps the process alive. Says when it tries, and when it is done. */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { sqliteDriver } from '@sluice/sqlite'
import type { SqliteDatabase } from '../../src/library/database.ts'

const Database = createRequire(import.meta.url)('better-sqlite3')
const database = new Database(process.argv[2]) as SqliteDatabase
const prepare = database.prepare.bind(database)
database.prepare = (sql) => {
  const statement = prepare(sql)
  if (sql !== 'begin immediate') return statement
  const run = statement.run.bind(statement)
  statement.run = () => {
    writeSync(1, 'tries\n')
    return run()
  }
  return statement
}
const driver = sqliteDriver({ database, exclusive: true })
await driver.open({})
const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
await driver.add('q', [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }], options)
writeSync(1, 'added\n')
