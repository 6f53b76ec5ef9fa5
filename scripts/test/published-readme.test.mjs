import assert from 'node:assert/strict'
import { test } from 'vitest'
import { publishedReadme, readmeOf, relativeTargets } from '../published-readme.mjs'

const at = 'https://github.com/a/b'

test('the page of sluice is that of the repository', () => {
  assert.equal(readmeOf({ folder: 'packages/queue', name: 'sluice' }), 'README.md')
  assert.equal(
    readmeOf({ folder: 'packages/core', name: '@sluice/core' }),
    'packages/core/README.md',
  )
})

test('links and pictures become absolute, whatever names them', () => {
  const text = [
    '[a](../../docs/a.md#b) [c](https://c.example) [d](#here) [e](../../examples/web)',
    '<img alt="p"',
    '  src="p.png"> ![q](../q.svg)',
  ].join('\n')
  const published = publishedReadme(text, 'packages/core/README.md', at)
  assert.equal(
    published,
    [
      `[a](${at}/blob/HEAD/docs/a.md#b) [c](https://c.example) [d](#here) [e](${at}/tree/HEAD/examples/web)`,
      '<img alt="p"',
      '  src="https://raw.githubusercontent.com/a/b/HEAD/packages/core/p.png"> ' +
        '![q](https://raw.githubusercontent.com/a/b/HEAD/packages/q.svg)',
    ].join('\n'),
  )
  assert.deepEqual(relativeTargets(text), [
    '../../docs/a.md#b',
    '../../examples/web',
    '../q.svg',
    'p.png',
  ])
  assert.deepEqual(relativeTargets(published), [])
})

test('code stays as it is, and hidden setup goes', () => {
  const text = '<!-- setup\nconst a = 1\n-->\n```ts\nx[a](b)\n```\nend'
  assert.equal(publishedReadme(text, 'README.md', at), '```ts\nx[a](b)\n```\nend')
})
