import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { entryPointsIn, programOf, reportOf } from '../src/report.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const entries = entryPointsIn(join(root, 'packages'))
const program = programOf(entries, join(root, 'tsconfig.check.json'))

// A difference is a change of the public API. If it is meant, write it down:
// `npm test -- --project tools/api-report -u`.
const reports = join(root, 'docs', 'api-report')
const fileOf = (name: string): string => `${name.replace('@', '').replaceAll('/', '-')}.api.txt`

describe('the public API is the one that was reviewed', () => {
  for (const entry of entries) {
    test(entry.name, async () => {
      const head = `Everything that \`${entry.name}\` exports. Written by npm test; see CONTRIBUTING.md.\n\n`
      await expect(head + reportOf(entry, program)).toMatchFileSnapshot(
        join(reports, fileOf(entry.name)),
      )
    })
  }

  test('no report is of an entry point that does not exist', () => {
    const known = new Set(entries.map(({ name }) => fileOf(name)))
    expect(readdirSync(reports).filter((file) => !known.has(file))).toEqual([])
  })
})
