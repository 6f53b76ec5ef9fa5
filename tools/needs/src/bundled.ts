import { renameSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

/** Leaves what is not ours to Node. */
const onlyOurs: Plugin = {
  name: 'only ours',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^.#/]/ }, ({ path }) =>
      /^(sluice|@sluice)(\/|$)/.test(path) ? undefined : { path, external: true },
    )
  },
}

const made = new Map<string, Promise<string>>()

async function bundle(program: string): Promise<string> {
  // Inside the package, so that the program finds what it imports.
  const folder = dirname(findPackageJSON(pathToFileURL(program)) ?? program)
  const path = join(folder, '.cache', 'programs', `${relative(folder, program)}.mjs`)
  const whole = `${path}.${process.pid}`
  await build({
    entryPoints: [program],
    outfile: whole,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2024',
    keepNames: true,
    conditions: ['sluice-source'],
    logLevel: 'silent',
    plugins: [onlyOurs],
  })
  // Another process may make or start the same one.
  renameSync(whole, path)
  return path
}

/**
 * The path of a program of tests in one file with all of our sources that it uses, as they are now.
 * Half of the time of a process that starts from the sources goes into finding and reading a hundred files.
 */
export async function bundled(program: URL): Promise<string> {
  const path = fileURLToPath(program)
  // A mutant is put into the sources while Node loads them.
  if (process.env['SLUICE_MUTANT'] !== undefined) return path
  let making = made.get(path)
  if (making === undefined) {
    making = bundle(path)
    made.set(path, making)
  }
  return await making
}
