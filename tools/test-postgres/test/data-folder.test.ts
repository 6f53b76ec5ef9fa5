import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fillDataFolder, unusedFolder } from '../src/data-folder.ts'

test('data is made once for the same options, and again for others', async () => {
  const folders: string[] = []
  onTestFinished(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  let times = 0
  const filled = async (option: string): Promise<string> => {
    const options = [option, String(process.pid)]
    const folder = mkdtempSync(join(tmpdir(), 'sluice-data-'))
    folders.push(folder, unusedFolder(options))
    await fillDataFolder(folder, options, async () => {
      times += 1
      writeFileSync(join(folder, 'made'), `${option} ${times}`)
    })
    return readFileSync(join(folder, 'made'), 'utf8')
  }
  expect([await filled('a'), await filled('a'), await filled('b')]).toEqual(['a 1', 'a 1', 'b 2'])
})
