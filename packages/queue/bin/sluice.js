#!/usr/bin/env node
// The command line is a package of its own, so that programs that only need queues do not install it.
// `npx sluice` finds it beside this package or in the folder where it is called, or says where to
// get it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

const name = '@sluice/cli'

function manifestOfCli() {
  const here = pathToFileURL(join(process.cwd(), 'package.json'))
  for (const place of [import.meta.url, here]) {
    try {
      return pathToFileURL(createRequire(place).resolve(`${name}/package.json`))
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return undefined
}

const manifest = manifestOfCli()
if (manifest === undefined) {
  process.stderr.write(
    `sluice: the command line is a package of its own, which is not installed here\n` +
      `  npx ${name} --help       to run it once\n` +
      `  npm install -D ${name}   to have \`npx sluice\` run it from now on\n`,
  )
  process.exitCode = 2
} else {
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  await import(new URL(bin.sluice, manifest).href)
}
