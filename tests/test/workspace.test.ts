import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'

const source = realpathSync(
  fileURLToPath(new URL('../../packages/core/src/index.ts', import.meta.url)),
)

test('packages resolve to their sources, so a test never needs a build', () => {
  assert.equal(realpathSync(fileURLToPath(import.meta.resolve('@sluice/core'))), source)
})

test('a child process runs the sources as they are', () => {
  const script = `
    const { systemClock } = await import('@sluice/core')
    console.log(typeof systemClock, import.meta.resolve('@sluice/core'))
  `
  const output = execFileSync(
    process.execPath,
    ['--conditions=sluice-source', '--input-type=module', '--eval', script],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )
  assert.equal(output, `object ${new URL(`file://${source}`).href}\n`)
})
