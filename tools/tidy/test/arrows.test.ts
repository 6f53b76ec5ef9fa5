import { describe, test } from 'vitest'
import { arrows } from '../src/rules/arrows.ts'
import { core, coreFolder, says } from './says.ts'

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
