/** Programs that bundlers made are run elsewhere, where better-sqlite3 lies beside them. */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import webpack from 'webpack'

const root = fileURLToPath(new URL('../../', import.meta.url))
const bunArch = process.arch === 'arm64' ? 'aarch64' : process.arch
const bun = join(
  realpathSync(join(root, 'compat/node_modules/bun')),
  `../@oven/bun-${process.platform}-${bunArch}/bin/bun`,
)

const program = `
import { sqliteDriver } from '@sluice/sqlite'
import { createQueue } from 'sluice'
const driver = sqliteDriver({ file: 'queue.db', library: 'better-sqlite3' })
const queue = createQueue({ name: 'orders', driver })
queue.add('order/42').then((outcome) => {
  console.log(outcome)
  return queue.close()
})
`

/** Writes the program `source` as one file, without better-sqlite3. */
type Bundler = (source: string, file: string) => unknown

const withEsbuild =
  (format: 'esm' | 'cjs'): Bundler =>
  (source, outfile) =>
    build({
      ...{ entryPoints: [source], outfile, format, bundle: true, platform: 'node' },
      external: ['better-sqlite3'],
    })

const withWebpack =
  (isModule: boolean): Bundler =>
  (entry, file) =>
    new Promise<void>((resolve, reject) => {
      const options: webpack.Configuration = {
        ...{ entry, mode: 'production', target: 'node22' },
        experiments: { outputModule: isModule },
        output: { path: join(file, '..'), filename: 'bundle.js', module: isModule },
        optimization: { minimize: false },
      }
      webpack(options, (error, stats) => {
        if (error === null && stats?.hasErrors() === false) resolve()
        else reject(error ?? new Error(stats?.toString()))
      })
    })

const withBun: Bundler = (source, file) =>
  execFileSync(bun, ['build', source, '--target=node', `--outfile=${file}`])

test.for<[string, 'module' | 'commonjs', Bundler]>([
  ['esbuild', 'module', withEsbuild('esm')],
  ['esbuild', 'commonjs', withEsbuild('cjs')],
  ['webpack', 'module', withWebpack(true)],
  ['webpack', 'commonjs', withWebpack(false)],
  ['bun', 'module', withBun],
])('%s, %s', async ([, type, bundle]) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-bundled-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const source = join(folder, 'source')
  for (const [name, from] of [
    ['sluice', 'queue'],
    ...['core', 'limiters', 'memory', 'sqlite'].map((name) => [`@sluice/${name}`, name]),
  ]) {
    for (const part of ['package.json', 'dist']) {
      const target = join(source, 'node_modules', String(name), part)
      cpSync(join(root, 'packages', String(from), part), target, { recursive: true })
    }
  }
  writeFileSync(join(source, 'app.mjs'), program)
  const out = join(folder, 'out')
  const library = join('node_modules', 'better-sqlite3')
  mkdirSync(join(out, 'node_modules'), { recursive: true })
  symlinkSync(realpathSync(join(root, 'packages/sqlite', library)), join(out, library))
  writeFileSync(join(out, 'package.json'), JSON.stringify({ type }))
  await bundle(join(source, 'app.mjs'), join(out, 'bundle.js'))
  // As where a program is built in one place and runs in another.
  rmSync(source, { recursive: true })
  const said = execFileSync(process.execPath, ['bundle.js'], { cwd: out, encoding: 'utf8' })
  expect(said).toBe('added\n')
})
