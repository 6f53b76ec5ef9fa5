import { describe, test } from 'vitest'
import { anonymous } from '../src/rules/anonymous.ts'
import { circles } from '../src/rules/circles.ts'
import { exportedNames } from '../src/rules/exported-names.ts'
import { folders } from '../src/rules/folders.ts'
import { manifests } from '../src/rules/manifests.ts'
import { names } from '../src/rules/names.ts'
import { options } from '../src/rules/options.ts'
import { patient } from '../src/rules/patient.ts'
import { reachable } from '../src/rules/reachable.ts'
import { scripts } from '../src/rules/scripts.ts'
import { sizes } from '../src/rules/sizes.ts'
import { sleepless } from '../src/rules/sleepless.ts'
import { words } from '../src/rules/words.ts'
import { core, coreFolder, says } from './says.ts'

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
    'a.yaml': `${word}: ${word} # pending`,
    'a.generated.ts': `// ${word}`,
    'a/src/a.ts': `const ${word} = '${word}'`,
  })
  says(
    words,
    {
      'a.ts': `const a = 1\n/** A run is ${word}. */\nf(a /* told\n * of */)`,
      'a.md': `# A\nwhat is\n${word}`,
      'a.sql': `select 1;\n-- Mends it.`,
      'a.lua': `-- It is ${word}.`,
      'a.yaml': `a: b # It is ${word}.`,
      'a.go': `f() // It is ${word}.`,
      'a.mjs': `// it ends by\n// itself`,
      'b.ts': `test.skipIf(a)(\n  'it is ${word}', f)\nmutant('b', "${word}")\nf('${word}')`,
    },
    /a\.ts:2: "owed"; write: pending/,
    /a\.ts:3: "told \* of"/,
    /a\.md:3: "owed"/,
    /a\.sql:2: "Mends"; write: fix/,
    /a\.lua:1: "owed"/,
    /a\.yaml:1: "owed"/,
    /a\.go:1: "owed"/,
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

test('patient: a wait has a timeout', () => {
  const wait = (more: string) => `\nawait vi.waitFor(() => expect(seen(1, 2)).toBe(1)${more})`
  says(patient, {
    'packages/core/test/a.test.ts': wait(', { timeout: 20_000 }'),
    'packages/core/test/b.test.ts': `// ${wait('')}`.replaceAll('\n', ''),
    'packages/core/src/c.ts': wait(''),
  })
  says(patient, { 'tests/support/a.ts': wait('') }, /a\.ts:2: vi\.waitFor gives up/)
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
  const source = (type: string, folder = 'packages/queue') => ({
    [`${folder}/src/options.ts`]: `export interface QueueOptions<T> {\n  readonly name?: ${type}\n}\n`,
  })

  test('an option that can be left out takes undefined', () => {
    says(options, source('string | undefined'))
    says(options, source('string'), /QueueOptions\.name does not take undefined/)
    says(
      options,
      source('string', 'templates/driver'),
      /QueueOptions\.name does not take undefined/,
    )
  })
})
