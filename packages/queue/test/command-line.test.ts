import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** An empty folder in which this package is installed, as far as its program goes. */
function installed(): { folder: string; program: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-program-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'node_modules', 'sluice', 'bin', 'sluice.js')
  mkdirSync(join(program, '..'), { recursive: true })
  writeFileSync(join(program, '..', '..', 'package.json'), '{ "type": "module" }')
  copyFileSync(new URL('../bin/sluice.js', import.meta.url), program)
  return { folder, program }
}

/** Puts a command line into a folder that prints its arguments. */
function installCli(folder: string): void {
  const place = join(folder, 'node_modules', '@sluice', 'cli')
  mkdirSync(join(place, 'dist'), { recursive: true })
  const manifest = {
    name: '@sluice/cli',
    type: 'module',
    bin: { sluice: './dist/bin.js' },
    exports: { './package.json': './package.json' },
  }
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
  writeFileSync(
    join(place, 'dist', 'bin.js'),
    'console.log(process.argv.slice(2).join()); process.exit(7)',
  )
}

function run(program: string, cwd: string): { status: number | null; out: string; err: string } {
  // The programs of a workspace are started with a path to every package of it.
  const { NODE_PATH: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'ls', 'orders'], {
    cwd,
    env,
    encoding: 'utf8',
  })
  return { status, out: stdout, err: stderr }
}

test('without the command line, its program says where to get it and exits with 2', () => {
  const { folder, program } = installed()
  const { status, out, err } = run(program, folder)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain('npx @sluice/cli --help')
  expect(err).toContain('npm install -D @sluice/cli')
})

test('with the command line installed, its program is the command line', () => {
  const { folder, program } = installed()
  installCli(folder)
  expect(run(program, tmpdir())).toEqual({ status: 7, out: 'ls,orders\n', err: '' })
})

test('with the command line in the folder where it is called, it is that one', () => {
  const { program } = installed()
  const elsewhere = mkdtempSync(join(tmpdir(), 'sluice-program-'))
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }))
  installCli(elsewhere)
  expect(run(program, elsewhere)).toEqual({ status: 7, out: 'ls,orders\n', err: '' })
})
