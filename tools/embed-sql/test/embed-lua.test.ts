import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embeddedLua } from '../src/embed-lua.ts'

function packageOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'embed-lua-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'lua', 'parts'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'lua', name), text)
  return folder
}

test('scripts lose their comments and include parts, and what follows the head is a function', () => {
  const folder = packageOf({
    'parts/some-head.lua': '-- The head.\nlocal now = 1\n',
    'add-one.lua': "#!lua\n-- Adds.\n-- @include some-head\n  return now + 1 .. ''\n",
  })
  expect(
    embeddedLua(folder),
  ).toBe(`// Generated from lua/ by tools/embed-sql; change those files instead.
const parts = {
  someHead: 'local now = 1',
} as const

export const scriptTexts: {
  readonly addOne: string
} = {
  addOne: ['#!lua', parts.someHead, 'return (function()', "return now + 1 .. ''", 'end)()'].join('\\n'),
}
`)
})

test('a part that is not there is named', () => {
  const folder = packageOf({ 'add.lua': '-- @include head\nreturn 1\n' })
  expect(() => embeddedLua(folder)).toThrow('there is no part head.lua')
})
