import { describe, test } from 'vitest'
import { addresses } from '../src/rules/documents/addresses.ts'
import { decisions } from '../src/rules/documents/decisions.ts'
import { internals } from '../src/rules/documents/internals.ts'
import { markdown } from '../src/rules/documents/markdown.ts'
import { says } from './says.ts'

test('decisions: indexed by title, numbered once, complete, with tests that exist', () => {
  const record = ['# 0001: A', '## Context', '## Decision', '## Consequences', '## Alternatives']
    .concat('## Proof', '`packages/a/test/b.test.ts`, `c.test.ts`', '')
    .join('\n\n')
  const index = { 'docs/decisions/README.md': '| [0001](0001-a.md) | A |' }
  const tests = { 'packages/a/test/b.test.ts': '', 'packages/a/test/c.test.ts': '' }
  says(decisions, { ...index, ...tests, 'docs/decisions/0001-a.md': record })
  says(
    decisions,
    {
      ...index,
      'packages/a/test/b.test.ts': '',
      'docs/decisions/0001-a.md': record.replace('## Proof', '## Proofs'),
      'docs/decisions/0001-b.md': record.replace('0001: A', '0001: B'),
    },
    /0001-a\.md: lacks "## Proof"/,
    /0001-a\.md: names c\.test\.ts, which does not exist/,
    /0001-b\.md: is not in the index under its title/,
    /0001-b\.md: 0001 is taken/,
    /0001-b\.md: names c\.test\.ts, which does not exist/,
  )
})

test('addresses: what is named in the repository or on the site exists', () => {
  const root = {
    homepage: 'https://site.example/',
    repository: { url: 'git+https://code.example/it.git' },
  }
  const page = { 'docs/a/b.md': '# B\n## One two' }
  says(addresses, {
    'package.json': root,
    ...page,
    'x.yaml': 'u: https://site.example/a/b#one-two',
    'y.md': '(https://code.example/it/blob/HEAD/docs/a/b.md) https://other.example/x',
    'z.ts': 'https://site.example/a/b#$ https://site.example/play',
    'site/pages/play.md': '# P',
  })
  says(
    addresses,
    {
      'package.json': root,
      ...page,
      'x.yaml': 'u: https://site.example/a/b#three',
      'y.md': '(https://code.example/it/blob/HEAD/docs/c.md) https://site.example/c',
    },
    /x\.yaml:1: .*#three leads nowhere/,
    /y\.md:1: .*docs\/c\.md leads nowhere/,
    /y\.md:1: .*site\.example\/c leads nowhere/,
  )
  says(addresses, { 'package.json': {} }, /lacks the repository/)
})

test('markdown: one title, and links that lead somewhere', () => {
  says(markdown, {
    'README.md':
      '# A\n```sh\n# not a title\n```\n[b](docs/b.md#two-words) [d](docs/) [w](https://example.com)',
    'docs/b.md': '# B\n## Two words',
    '.changeset/first.md': 'no title',
  })
  says(
    markdown,
    { 'a.md': '# A\n# B\n[x](x.md) [y](#nothing)', 'b.md': 'none' },
    /a\.md: 2 titles/,
    /x\.md leads nowhere/,
    /#nothing names no heading/,
    /b\.md: 0 titles/,
  )
})

test('markdown: no row outside of a table', () => {
  says(markdown, { 'a.md': '# A\n| a | b |\n| --- | :-: |\n| 1 | 2 |\n\ntext' })
  says(
    markdown,
    { 'a.md': '# A\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nA template.\n\n| 3 | 4 |\n| 5 | 6 |' },
    /a\.md: a row outside of a table: \| 3 \| 4 \|/,
  )
})

describe('internals', () => {
  const sources = {
    'packages/a/src/thing.ts': 'export class Thing {}',
    'packages/a/sql/claim.sql': 'select 1',
  }

  test('paths that exist are fine, and so are names that their files contain', () => {
    says(internals, {
      ...sources,
      'docs/internals/a.md':
        'Paths are relative to `packages/a/`. `src/thing.ts` ›\n`Thing` calls `sql/claim.sql` in `sql/`; ' +
        'see `packages/a/src/thing.ts` and `Driver`.',
    })
  })

  test('a path or a name that is gone is named, and a page has to say where its paths begin', () => {
    says(
      internals,
      {
        ...sources,
        'docs/internals/a.md':
          'Paths are relative to `packages/a/`. `src/gone.ts`, `gone/`, `src/thing.ts` › `Other`.',
        'docs/internals/b.md': 'Without a base.',
      },
      /a\.md: src\/gone\.ts does not exist/,
      /a\.md: gone\/ does not exist/,
      /a\.md: src\/thing\.ts does not contain Other/,
      /b\.md: does not say/,
    )
  })
})
