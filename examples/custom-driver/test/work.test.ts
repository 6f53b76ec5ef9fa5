import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('what one run adds, the next one works on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'custom-driver-'))
  const work = (): string =>
    execFileSync(
      process.execPath,
      ['--conditions=sluice-source', 'src/work.ts', join(folder, 'q')],
      { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' },
    )
  expect(work()).toContain('3 orders are in')
  const second = work()
  expect(second).toContain('working on order/1\nworking on order/2\nworking on order/3\n')
  expect(second).toContain('3 orders are done')
  rmSync(folder, { recursive: true })
})
