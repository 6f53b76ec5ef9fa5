import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'
import { membersOf, tableWords } from '../src/members.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string): string => readFileSync(root + path, 'utf8')

/** Tables that name everything that a declaration has: page, heading, source, declaration. */
const tables = [
  ['docs/guides/worker.md', 'Options', 'queue/src/worker/worker.ts', 'WorkerOptions'],
  ['docs/guides/worker.md', 'What a handler gets', 'queue/src/worker/worker.ts', 'HandlerContext'],
  ['docs/guides/worker.md', 'Methods and properties', 'queue/src/worker/worker.ts', 'Worker'],
  ['docs/guides/production.md', 'Probes', 'queue/src/worker/worker-health.ts', 'HealthReason'],
  ['docs/operating/events.md', 'Inspection', 'queue/src/inspect/inspect.ts', 'Inspect'],
  ['docs/operating/events.md', 'The channel', 'core/src/events.ts', 'SluiceEvent'],
  [
    'docs/operating/troubleshooting.md',
    'My key does not run',
    'queue/src/inspect/inspect.ts',
    'ReasonCode',
  ],
  ['packages/queue/README.md', 'Options', 'queue/src/queue/options.ts', 'QueueOptions'],
  ['packages/dashboard/README.md', 'Options', 'dashboard/src/dashboard.ts', 'DashboardOptions'],
] as const

describe('a table of everything', () => {
  for (const [page, heading, source, declaration] of tables) {
    test(`${page}: "${heading}" has each of ${declaration}`, () => {
      const members = membersOf(read(`packages/${source}`), declaration)
      assert.notDeepEqual(members, [])
      const said = new Set(tableWords(read(page), heading))
      assert.deepEqual(
        members.filter((name) => !said.has(name)),
        [],
        'have no line in the table',
      )
    })

    test(`${page}: "${heading}" has nothing that ${declaration} lacks`, () => {
      const members = new Set(membersOf(read(`packages/${source}`), declaration))
      // Tables of codes and of members under one heading differ in their letters.
      const isCode = [...members].every((name) => name === name.toUpperCase())
      const said = tableWords(read(page), heading)
        .filter((word) => /^[\w-]+$/.test(word) && !word.startsWith('ERR_'))
        .filter((word) => (word === word.toUpperCase()) === isCode)
      assert.deepEqual(
        said.filter((name) => !members.has(name)),
        [],
        'are in the table only',
      )
    })
  }

  test('docs/operating/events.md: has each verb of the channel, and no other', () => {
    const page = read('docs/operating/events.md')
    const said = ['Calls of the driver', 'What a queue or a worker notices'].flatMap((heading) =>
      tableWords(page, heading),
    )
    const verbs = membersOf(read('packages/core/src/events.ts'), 'TracedVerb')
    assert.ok(verbs.includes('run'))
    assert.deepEqual([...said].sort(), [...verbs].sort())
  })

  test('reads interfaces, unions and tables', () => {
    const source = "interface A { readonly b?: string; c(): void; 'd-e': 1 }\ntype F = 'g' | 'h'\n"
    assert.deepEqual(membersOf(source, 'A'), ['b', 'c', 'd-e'])
    assert.deepEqual(membersOf(source, 'F'), ['g', 'h'])
    const page =
      '# T\n\n## A\n\n| a | b |\n| --- | --- |\n| `b`, `c` | `x` |\n\n## Z\n\n| `z` | |\n'
    assert.deepEqual(tableWords(page, 'A'), ['b', 'c'])
  })
})
