import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { notesOf } from '../first-notes.mjs'
import { publishedPackages } from '../pack.mjs'

test('each section is the note of a package', () => {
  const notes = notesOf('# Release\n\nAll.\n\n## `a`\n\nOne.\n\nTwo.\n\n## @b/c\n\nThree.\n')
  assert.deepEqual(
    [...notes],
    [
      ['a', 'One.\n\nTwo.'],
      ['@b/c', 'Three.'],
    ],
  )
})

test('every package that is published has notes for its first release', () => {
  const page = join(import.meta.dirname, '..', '..', 'docs', 'releases', '0.1.0.md')
  const notes = notesOf(readFileSync(page, 'utf8'))
  for (const { manifest } of publishedPackages()) assert.ok(notes.get(manifest.name), manifest.name)
})
