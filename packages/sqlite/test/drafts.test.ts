import assert from 'node:assert/strict'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sqliteDriver } from '@sluice/sqlite'
import { test } from 'vitest'
import { scratchFile } from './scratch.ts'

const id = 'a1b2c3d4-0000-4000-8000-00000000000'

/** Makes a file of a time that is long past. */
function leave(path: string): string {
  writeFileSync(path, 'x')
  utimesSync(path, 1_000, 1_000)
  return basename(path)
}

test('what a process that was killed while it created the file has left is removed at the next opening', async () => {
  const file = scratchFile()
  for (const suffix of ['', '-wal', '-shm', '-journal']) leave(`${file}.${id}1.new${suffix}`)
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.close()
  assert.deepEqual(readdirSync(dirname(file)), ['queue.db'])
  leave(`${file}.${id}2.new`)
  await driver.open({})
  await driver.close()
  assert.deepEqual(readdirSync(dirname(file)), ['queue.db'], 'also if the file is there')
})

test('the draft of a process that may be at work stays, and so does every other file', async () => {
  const file = scratchFile()
  const folder = dirname(file)
  const kept = [
    leave(`${file}.copy.${id}1.new`),
    leave(`${file}.new`),
    leave(`${file}.${id}1.newer`),
    leave(join(folder, `other.db.${id}1.new`)),
  ]
  const fresh = `${file}.${id}3.new`
  writeFileSync(fresh, 'x')
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.close()
  assert.deepEqual(readdirSync(folder).sort(), ['queue.db', basename(fresh), ...kept].sort())
})

test('what the system says is in the message, since a log has no more of the error', async () => {
  const folder = dirname(scratchFile())
  const refuses = (file: string, message: string) =>
    assert.rejects(async () => await sqliteDriver({ file }).open({}), { message })
  const long = join(folder, 'x'.repeat(240)) // its draft has too long a name
  await refuses(long, `cannot create ${long}: ENAMETOOLONG: name too long [ERR_STORE]`)
  const lost = join(folder, 'no', 'queue.db')
  const reason =
    'does not exist or cannot be reached: ENOENT: no such file or directory [ERR_STORE]'
  await refuses(lost, `the directory of ${lost} ${reason}`)
})
