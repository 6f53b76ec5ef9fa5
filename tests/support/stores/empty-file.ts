import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The path of a file for a store, in a folder that is gone after the test. */
export function emptyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'queue.db')
}
