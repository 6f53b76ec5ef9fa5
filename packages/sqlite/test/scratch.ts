import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of its own for a test, gone when the test has ended. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The path of a file that is not there yet, in a folder of its own. */
export function scratchFile(): string {
  return join(scratchFolder(), 'queue.db')
}
