import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { test } from 'vitest'

const source = realpathSync(join(import.meta.dirname, '../../../packages/core/src/index.ts'))

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
  assert.equal(output, `object ${pathToFileURL(source).href}\n`)
})
