/**
 * Locks the file that it is given, as a program does that leaves a transaction open; says so, and
 * lets go when told to.
 */
import { createRequire } from 'node:module'

const Database = createRequire(import.meta.url)('better-sqlite3')
const database = new Database(process.argv[2])
database.exec('begin immediate')
process.on('message', () => {
  database.exec('commit')
  database.close()
  process.disconnect?.()
})
process.send?.('locked')
