import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type SluiceEvent, sluiceChannel } from '@sluice/core'
import { onTestFinished, test } from 'vitest'
import type { SqliteDatabase } from '../src/database.ts'
import { LogGuard } from '../src/log-guard.ts'
import { scratchFile } from './scratch.ts'
import { fakeMachine } from './store.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as new (
  path: string,
) => SqliteDatabase

test('a reader that keeps the log from being emptied is reported; then the log is emptied', () => {
  const file = scratchFile()
  const database = new Database(file)
  database.exec('pragma busy_timeout = 10; pragma journal_mode = wal; create table t (a)')
  database.exec('insert into t values (1)')
  const warnings: unknown[] = []
  const subscriber = { error: ({ error }: SluiceEvent) => void warnings.push(error) }
  sluiceChannel.subscribe(subscriber as never)
  onTestFinished(() => void sluiceChannel.unsubscribe(subscriber as never))
  const bytesMax = 1024 * 1024
  const machine = fakeMachine()
  const guard = new LogGuard(file, machine, bytesMax)
  const logBytes = (): number => statSync(`${file}-wal`).size
  const write = (): void => {
    for (let commit = 0; commit < 256; commit += 1) {
      database.exec('update t set a = randomblob(8000)')
      guard.committed(database)
    }
  }

  const reader = new Database(file)
  reader.exec('begin')
  reader.prepare('select count(*) from t').get()
  write()
  assert.equal(warnings.length, 1)
  assert.match(String(warnings[0]), /has grown to [0-9]+ MiB/)
  assert.ok(logBytes() > bytesMax)
  write()
  assert.equal(warnings.length, 1, 'not again at once')

  reader.exec('commit')
  machine.clock.monotonicMs = () => 60_000
  write()
  assert.equal(warnings.length, 1)
  assert.ok(logBytes() <= bytesMax, `${logBytes()} bytes`)
  reader.close()
  database.close()
})
