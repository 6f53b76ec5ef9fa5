/** A process that waits to watch, over a connection that hears nothing; see watch.test.ts. */
import pg from 'pg'
import { postgresDriver } from '../src/index.ts'

class Deaf extends pg.Client {
  override emit(event: string, ...told: unknown[]): boolean {
    return event === 'notification' ? false : super.emit(event as 'error', ...(told as [Error]))
  }
}

const [, , connectionString = '', schema = ''] = process.argv
const pool = new pg.Pool({ connectionString, Client: Deaf, allowExitOnIdle: true })
const driver = postgresDriver({ pool, schema, onWarning() {} })
await driver.open({})
await driver.watch?.(() => {})
process.stdout.write('watching')
