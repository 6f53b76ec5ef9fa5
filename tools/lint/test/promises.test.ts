import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ESLint } from 'eslint'
import { test } from 'vitest'

// The fixture is two packages, because the mistake that matters is a call into another one.
const root = fileURLToPath(new URL('../../../', import.meta.url))
const fixture = `${root}tools/lint/fixture`
const file = `${fixture}/caller/src/mistakes.ts`

test('a promise of another package that nobody awaits is an error', async () => {
  const expected = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const rule = line.match(/\/\/ (no-\S+-promises)$/)?.[1]
      return rule === undefined ? [] : [`${index + 1} @typescript-eslint/${rule}`]
    })

  const eslint = new ESLint({
    cwd: root,
    ignore: false,
    overrideConfig: {
      files: ['**/*.ts'],
      languageOptions: { parserOptions: { project: `${fixture}/tsconfig.json` } },
    },
  })
  const [result] = await eslint.lintFiles([file])
  const found = result?.messages.map((message) => `${message.line} ${message.ruleId}`)

  assert.deepEqual(found, expected)
  assert.ok(result?.messages.every((message) => message.severity === 2))
})
