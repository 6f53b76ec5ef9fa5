import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bundled } from '../src/bundled.ts'

function programOfTwoFiles(): URL {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  writeFileSync(join(folder, 'word.ts'), "export const word: string = 'whole'")
  const path = join(folder, 'test', 'program.ts')
  writeFileSync(path, "import { word } from '../word.ts'\nconsole.log(word)")
  return pathToFileURL(path)
}

test('a program is one file with all that it uses', async () => {
  const program = programOfTwoFiles()
  const path = await bundled(program)
  rmSync(new URL('../word.ts', program))
  expect(execFileSync(process.execPath, [path], { encoding: 'utf8' })).toBe('whole\n')
})

test('a program of which a mutant is looked for is run from its sources', async () => {
  vi.stubEnv('SLUICE_MUTANT', '[]')
  onTestFinished(() => void vi.unstubAllEnvs())
  const program = programOfTwoFiles()
  expect(await bundled(program)).toBe(fileURLToPath(program))
})
