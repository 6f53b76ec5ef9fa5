import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedLua, generatedLuaFile } from '@sluice/embed-sql/lua'
import { expect, test } from 'vitest'

test('the scripts are those of the files in lua', () => {
  const folder = join(import.meta.dirname, '..')
  const written = readFileSync(join(folder, generatedLuaFile), 'utf8')
  expect(written, 'run `pnpm run embed`').toBe(embeddedLua(folder))
})
