import assert from 'node:assert/strict'
import fs, { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { FolderChanges } from '../src/connection/folder-changes.ts'
import { scratchFolder } from './scratch.ts'
import { useSettledFolder } from './settled-folder.ts'
import { fakeEnvironment } from './store.ts'

async function lookedAt() {
  const folder = scratchFolder()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const environment = fakeEnvironment()
  await useSettledFolder(file, environment)
  const changes = new FolderChanges(folder, environment.clock)
  onTestFinished(() => changes.close())
  return { changes, environment, file }
}

test('a folder at rest has no changes but the first look', async () => {
  const { changes, file } = await lookedAt()
  assert.equal(changes.hasNone(), false)
  assert.equal(changes.hasNone(), true)
  writeFileSync(file, 'more')
  assert.equal(changes.hasNone(), true, 'what is written to a file does not change its folder')
  changes.close()
  assert.equal(changes.hasNone(), false, 'nothing is known after a close')
  assert.equal(changes.hasNone(), true)
})

const changed = {
  created: (file: string) => writeFileSync(`${file}.new`, ''),
  removed: (file: string) => rmSync(file),
  renamed: (file: string) => renameSync(file, `${file}.away`),
}

for (const [how, change] of Object.entries(changed)) {
  test(`a file that was ${how} changes its folder`, async () => {
    const { changes, file } = await lookedAt()
    changes.hasNone()
    assert.equal(changes.hasNone(), true)
    change(file)
    assert.equal(changes.hasNone(), false)
  })
}

test('a time that the next change could have too is not trusted', async () => {
  const { changes, environment, file } = await lookedAt()
  writeFileSync(`${file}.new`, '')
  const changedAt = statSync(dirname(file)).ctimeMs
  environment.clock.now = () => changedAt + 50
  for (let nth = 0; nth < 3; nth += 1) assert.equal(changes.hasNone(), false)
  environment.clock.now = () => changedAt + 200
  assert.equal(changes.hasNone(), false)
  assert.equal(changes.hasNone(), true)
})

test('of a folder that cannot be opened nothing is known', () => {
  const { clock } = fakeEnvironment()
  const changes = new FolderChanges(join(scratchFolder(), 'none'), clock)
  for (let nth = 0; nth < 3; nth += 1) assert.equal(changes.hasNone(), false)
  changes.close()
})

test('a folder whose status cannot be read is closed', async () => {
  const { changes } = await lookedAt()
  const { closeSync, fstatSync } = fs
  onTestFinished(() => {
    Object.assign(fs, { closeSync, fstatSync })
    syncBuiltinESMExports()
  })
  let closed = 0
  fs.fstatSync = () => {
    throw new Error('EIO: i/o error, fstat')
  }
  fs.closeSync = (handle) => {
    closed += 1
    closeSync(handle)
  }
  syncBuiltinESMExports()
  assert.equal(changes.hasNone(), false)
  assert.equal(changes.hasNone(), false)
  assert.equal(closed, 1)
})
