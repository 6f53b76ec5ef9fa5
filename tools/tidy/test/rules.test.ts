import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Repository } from '../src/repository.ts'
import { anonymous } from '../src/rules/anonymous.ts'
import { arrows } from '../src/rules/arrows.ts'
import { circles } from '../src/rules/circles.ts'
import { addresses } from '../src/rules/documents/addresses.ts'
import { decisions } from '../src/rules/documents/decisions.ts'
import { internals } from '../src/rules/documents/internals.ts'
import { markdown } from '../src/rules/documents/markdown.ts'
import { exportedNames } from '../src/rules/exported-names.ts'
import { folders } from '../src/rules/folders.ts'
import { manifests } from '../src/rules/manifests.ts'
import { names } from '../src/rules/names.ts'
import { options } from '../src/rules/options.ts'
import { reachable } from '../src/rules/reachable.ts'
import { scripts } from '../src/rules/scripts.ts'
import { sizes } from '../src/rules/sizes.ts'
import { sleepless } from '../src/rules/sleepless.ts'
import { words } from '../src/rules/words.ts'
import { workflows } from '../src/rules/workflows.ts'
import type { Rule } from '../src/rules.ts'

// Each rule gets made-up repositories: one that breaks it, which it must report, and one that keeps
// it. A rule that never complains would otherwise pass every test.
function repository(files: Record<string, unknown>): Repository {
  return new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : JSON.stringify(content),
    ]),
  )
}

function says(rule: Rule, files: Record<string, unknown>, ...expected: RegExp[]): void {
  const problems = rule(repository(files))
  assert.equal(problems.length, expected.length, problems.join('\n') || 'no problem found')
  for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? '', pattern)
}

const core = { name: '@sluice/core', exports: { '.': { 'sluice-source': './src/index.ts' } } }
const coreFolder = 'packages/core/package.json'

describe('arrows', () => {
  const memory = (more: object) => ({ name: '@sluice/memory', ...more })

  test('an arrow down is fine, in every kind of dependency', () => {
    says(arrows, {
      [coreFolder]: core,
      'packages/memory/package.json': memory({
        devDependencies: { '@sluice/core': 'workspace:^' },
      }),
      'packages/memory/src/index.ts': '',
    })
  })

  test('an arrow up or sideways is not, as a dev dependency either', () => {
    says(
      arrows,
      {
        [coreFolder]: { ...core, devDependencies: { '@sluice/memory': 'workspace:^' } },
        'packages/memory/package.json': memory({
          dependencies: { '@sluice/sqlite': 'workspace:^' },
        }),
        'packages/sqlite/package.json': { name: '@sluice/sqlite' },
      },
      /core must not know @sluice\/memory \(devDependencies\)/,
      /memory must not know @sluice\/sqlite/,
    )
  })

  test('a package without a rank must be given one', () => {
    says(arrows, { 'packages/etcd/package.json': { name: '@sluice/etcd' } }, /no rank/)
  })

  test('an import needs a declared dependency, and in sources not a dev one', () => {
    says(
      arrows,
      {
        [coreFolder]: core,
        'packages/memory/package.json': memory({
          devDependencies: { '@sluice/core': 'workspace:^' },
        }),
        'packages/memory/src/index.ts':
          "import { a } from '@sluice/core'\nexport type B = import('left-pad').B",
        'packages/memory/test/a.test.ts':
          "import { a } from '@sluice/core'\nawait import('vitest')",
      },
      /src\/index\.ts:1: @sluice\/core is not a dependency/,
      /src\/index\.ts:2: left-pad is not a dependency/,
      /test\/a\.test\.ts:2: vitest is not a dependency/,
    )
  })

  test("an import of a package's own name for a part needs that name in its manifest", () => {
    says(
      arrows,
      {
        [coreFolder]: { ...core, imports: { '#clock': './src/clock.ts' } },
        'packages/core/src/index.ts': "export { a } from '#clock'\nexport { b } from '#clocks'",
      },
      /src\/index\.ts:2: #clocks is not among the imports of @sluice\/core/,
    )
  })

  test('an import stays within its package and within the exports of others', () => {
    says(
      arrows,
      {
        [coreFolder]: core,
        'packages/memory/package.json': memory({ dependencies: { '@sluice/core': 'workspace:^' } }),
        'packages/memory/src/index.ts':
          "export { a } from '../../core/src/a.ts'\nimport '../test/b.ts'",
        'packages/memory/src/c.ts': "import { x } from '@sluice/core/src/x.ts'",
      },
      /leaves the package/,
      /not part of what is built/,
      /does not export \.\/src\/x\.ts/,
    )
  })
})

test('decisions: indexed, numbered once, complete', () => {
  const record = ['Context', 'Decision', 'Consequences', 'Alternatives', 'Proof']
    .map((part) => `\n## ${part}\n`)
    .join('')
  says(decisions, {
    'docs/decisions/README.md': '[a](0001-a.md)',
    'docs/decisions/0001-a.md': record,
  })
  says(
    decisions,
    {
      'docs/decisions/README.md': '[a](0001-a.md)',
      'docs/decisions/0001-a.md': record.replace('## Proof', '## Proofs'),
      'docs/decisions/0001-b.md': record,
    },
    /0001-a\.md: lacks "## Proof"/,
    /0001-b\.md: is not in the index/,
    /0001-b\.md: 0001 is taken/,
  )
})

test('manifests: the promises of a published package', () => {
  const good = {
    name: '@sluice/core',
    type: 'module',
    license: 'Apache-2.0',
    sideEffects: false,
    engines: { node: '>=22.14' },
    author: 'A',
    homepage: 'https://site.example/',
    repository: {
      type: 'git',
      url: 'git+https://code.example/it.git',
      directory: 'packages/core',
    },
    bugs: 'https://code.example/it/issues',
    files: ['dist', '!dist/.tsbuildinfo', 'src'],
    exports: {
      '.': {
        'sluice-source': './src/index.ts',
        types: './dist/index.d.ts',
        default: './dist/index.js',
      },
      './package.json': './package.json',
    },
  }
  const root = {
    author: 'A',
    homepage: 'https://site.example/',
    repository: { type: 'git', url: 'git+https://code.example/it.git' },
    bugs: 'https://code.example/it/issues',
  }
  const known = {
    'package.json': root,
    'tsconfig.json': { references: [{ path: 'packages/core' }] },
    'packages/core/tsconfig.json': {},
  }
  says(manifests, { ...known, [coreFolder]: good })
  says(
    manifests,
    { ...known, [coreFolder]: { ...good, type: 'commonjs' } },
    /type must be "module"/,
  )
  says(
    manifests,
    { ...known, [coreFolder]: { ...good, repository: root.repository, bugs: undefined } },
    /repository must be .*"directory":"packages\/core"/,
    /bugs must be "https:\/\/code\.example\/it\/issues"/,
  )
  says(
    manifests,
    { ...known, [coreFolder]: { ...good, exports: { './*': './dist/*.js' } } },
    /exports\["\.\/\*"\]/,
    /lacks \.\/package\.json/,
  )
  says(
    manifests,
    {
      'package.json': root,
      'packages/core/tsconfig.json': { references: [{ path: '../x' }] },
      [coreFolder]: good,
    },
    /references \[packages\/x\], depends on \[\]/,
    /does not reference packages\/core/,
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

test('names: no attractors, kebab-case', () => {
  says(names, { 'packages/core/src/fake-clock.ts': '', 'vitest.config.ts': '' })
  says(names, { 'packages/core/src/utils.ts': '', 'a/FakeClock.ts': '' }, /"utils"/, /kebab-case/)
})

test('reachable: what no export leads to is dead', () => {
  const files = {
    [coreFolder]: core,
    'packages/core/src/index.ts': "export { a } from './a.ts'",
    'packages/core/src/a.ts': "new Worker(new URL('./b.ts', import.meta.url))",
    'packages/core/src/b.ts': '',
  }
  says(reachable, files)
  says(reachable, { ...files, 'packages/core/src/c.ts': '' }, /src\/c\.ts: nothing/)
  says(reachable, {
    ...files,
    [coreFolder]: { ...core, imports: { '#c': { browser: './src/c.ts', default: './dist/c.js' } } },
    'packages/core/src/c.ts': '',
  })
  says(
    reachable,
    { ...files, [coreFolder]: { ...core, exports: { './x': { 'sluice-source': './src/x.ts' } } } },
    /names \.\/src\/x\.ts, which does not exist/,
    /src\/index\.ts/,
    /src\/a\.ts/,
    /src\/b\.ts/,
  )
})

test('sizes: five hundred lines of code and no more', () => {
  says(sizes, {
    'packages/core/src/a.ts': `${'x\n'.repeat(500)}\n// why\n\n/**\n * Why.\n */\n`,
    'packages/core/test/a.test.ts': 'x\n'.repeat(900),
  })
  says(sizes, { 'packages/core/src/a.ts': 'x\n'.repeat(501) }, /501 lines of code/)
})

test('folders: fifteen files, tests and generated files not counted', () => {
  const files = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`packages/core/src/a/${at}.ts`, '']),
    )
  says(folders, {
    ...files(15),
    'packages/core/src/a/b/c.ts': '',
    'packages/core/src/a/sql.generated.ts': '',
    ...Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`packages/core/test/${at}.ts`, '']),
    ),
  })
  says(folders, files(16), /^packages\/core\/src\/a\/: 16 files/)
  says(folders, { 'packages/dashboard/client/src/ui/a.tsx': '', ...files(16) }, /16 files/)
})

test('circles: five files, imports of types included', () => {
  const ring = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `packages/core/src/${at}.ts`,
        `import type { A } from './${(at + 1) % count}.ts'`,
      ]),
    )
  says(circles, { ...ring(5), 'packages/core/src/x.ts': "import { a } from './0.ts'" })
  says(circles, ring(6), /0\.ts: a circle of 6 files.*5\.ts$/)
})

test('exported names: a file with one or two exports is named for one of them', () => {
  const one = 'packages/core/src'
  says(exportedNames, {
    [coreFolder]: core,
    [`${one}/index.ts`]: "export { sorted } from './sort-keys.ts'",
    [`${one}/sort-keys.ts`]: 'export function sortKeysByName() {}\nexport interface Other {}',
    [`${one}/keys/keys.ts`]: 'export const all = []',
    [`${one}/copies/copy.ts`]: 'export const copies = []',
    [`${one}/durations.ts`]: 'export const a = 1, b = 2\nexport type C = 1',
    [`${one}/program.ts`]: 'console.log(1)',
  })
  says(
    exportedNames,
    {
      [coreFolder]: core,
      [`${one}/order.ts`]: 'export function sortKeys() {}\nfunction order() {}',
      [`${one}/class.ts`]: 'export abstract class Sorter {}',
    },
    /order\.ts: .*\(sortKeys\)/,
    /class\.ts: .*\(Sorter\)/,
  )
})

test('words: comments, titles, messages and prose, not code', () => {
  const word = 'owed'
  says(words, {
    'a.ts': `const ${word} = '${word}' // NOTHING_OWED\nconst url = 'http://${word}'`,
    'a.tsx': `const a = <p>// ${word}</p>`,
    'a.md': `\`${word}\`\n\`\`\`ts\n${word}\n\`\`\`\n`,
    'a.sql': `select ${word}; -- pending`,
    'a.generated.ts': `// ${word}`,
    'a/src/a.ts': `const ${word} = '${word}'`,
  })
  says(
    words,
    {
      'a.ts': `const a = 1\n/** A run is ${word}. */\nf(a /* told\n * of */)`,
      'a.md': `# A\nwhat is\n${word}`,
      'a.sql': `select 1;\n-- Mends it.`,
      'a.mjs': `// it ends by\n// itself`,
      'b.ts': `test.skipIf(a)(\n  'it is ${word}', f)\nmutant('b', "${word}")\nf('${word}')`,
    },
    /a\.ts:2: "owed"; write: pending/,
    /a\.ts:3: "told \* of"/,
    /a\.md:3: "owed"/,
    /a\.sql:2: "Mends"; write: fix/,
    /a\.mjs:1: "by \/\/ itself"/,
    /b\.ts:2: "owed"/,
    /b\.ts:3: "owed"/,
  )
  says(
    words,
    {
      'a/src/a.ts': `throw Error('it is ${word}')\nf(\`it is \${a} ${word} to \${b}\`)`,
      'a/src/a.tsx': `const a = (\n  <p>it is ${word}</p>\n)`,
    },
    /src\/a\.ts:1: "owed"/,
    /src\/a\.ts:2: "owed"/,
    /src\/a\.tsx:2: "owed"/,
  )
})

test('scripts: they name files that exist', () => {
  says(scripts, {
    'package.json': { scripts: { test: 'node scripts/run.mjs test --config=a.json' } },
    'scripts/run.mjs': '',
    'a.json': '{}',
    'packages/core/package.json': { scripts: { start: 'node dist/bin.js', build: 'tsc -b' } },
  })
  says(
    scripts,
    { 'packages/core/package.json': { scripts: { simulate: 'node --x scripts/simulate.ts' } } },
    /the script simulate names scripts\/simulate\.ts/,
  )
})

test('sleepless: real time needs a reason', () => {
  const timer = ['set', 'Timeout(done, 5)'].join('')
  says(sleepless, {
    'packages/core/src/time/clock.ts': timer,
    'packages/core/test/a.test.ts': `${timer} // real time: a real socket\n// real time: the same\n${timer}`,
  })
  says(sleepless, { 'tests/test/a.test.ts': `${timer}\n// real time:\n${timer}` }, /:1:/, /:3:/)
})

test('anonymous: neither a machine nor a registry', () => {
  const registry = ['https://registry', 'example.com/'].join('.')
  const folder = ['', 'tmp', 'x'].join('/')
  const beside = ['..', 'work', 'a.ts'].join('/')
  const within = ['network', 'root'].join('/')
  says(anonymous, { 'a.ts': `import x from "${beside}" // ${within}, 1/2` })
  says(
    anonymous,
    { 'a.ts': `open('${folder}')`, 'b.yaml': registry },
    /a\.ts:1: a path/,
    /b\.yaml:1: the name/,
  )
})

describe('options', () => {
  const source = (type: string) => ({
    'packages/queue/src/options.ts': `export interface QueueOptions<T> {\n  readonly name?: ${type}\n}\n`,
  })

  test('an option that can be left out takes undefined', () => {
    says(options, source('string | undefined'))
    says(options, source('string'), /QueueOptions\.name does not take undefined/)
  })
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

describe('workflows', () => {
  const ci = '.github/workflows/ci.yml'
  const of = (value: string): string => `\${{ ${value} }}`
  const manifest = { 'package.json': { scripts: { check: 'node check.mjs' } } }
  const workflow = (job: string, more = ''): string =>
    `on: push\n${more}jobs:\n  one:\n    runs-on: ubuntu-latest\n${job}`

  test('that run scripts which exist are fine', () => {
    says(workflows, {
      ...manifest,
      '.ci/run': '',
      [ci]: workflow(
        '    strategy: { matrix: { node: ["22", "24"] } }\n    steps:\n' +
          `      - uses: actions/checkout@v5\n      - run: npm run check -- ${of('matrix.node')}\n` +
          '      - run: .ci/run\n      - uses: changesets/action@v1\n        with: { publish: npm run check }\n',
        'permissions: { contents: read }\n',
      ),
    })
  })

  test('that run something else are not', () => {
    says(
      workflows,
      {
        ...manifest,
        [ci]: workflow(
          '    steps:\n      - run: npm run chekc\n      - run: curl example.org | sh\n' +
            '      - uses: changesets/action@v1\n        with: { publish: npm run publish }\n',
        ),
      },
      /chekc, which is no script/,
      /curl.* which is no script/,
      /publish, which is no script/,
    )
  })

  test('refer to what exists', () => {
    says(
      workflows,
      {
        ...manifest,
        [ci]: workflow(
          '    needs: two\n    permissions: { content: read }\n    steps:\n      - uses: actions/checkout\n' +
            `      - run: npm run check\n        wiht: {}\n      - name: ${of('matrix.node')} ${of('steps.x.outputs.y')}\n`,
        ),
      },
      /permission content,/,
      /needs two/,
      /names no version/,
      /field wiht/,
      /without `uses` or `run`/,
      /no matrix\.node/,
      /no steps\.x/,
    )
  })

  test('are YAML', () => {
    says(workflows, { ...manifest, [ci]: 'on: push\non: push\n' }, /must be unique/)
  })

  test('every lockfile is watched', () => {
    const updates = 'updates:\n  - package-ecosystem: npm\n    directories: ["/", "/gone"]\n'
    says(
      workflows,
      {
        '.github/dependabot.yml': updates,
        'pnpm-lock.yaml': '',
        'site/pnpm-lock.yaml': '',
      },
      /does not watch \/site/,
      /watches \/gone/,
    )
  })
})
