// `npm run site`: builds the documentation site into site/dist.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readAddress } from '../scripts/address.mjs'
import { pagesFolder, writeDocuments } from './src/documents.mjs'
import { writeTexts } from './src/llms.mjs'
import { root } from './src/pages.mjs'

const site = join(root, 'site')

function call(program, args) {
  const bin = join(site, 'node_modules', '.bin', program)
  const { status } = spawnSync(bin, args, { cwd: site, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

// The reference takes longest and changes least: --keep-reference leaves the one of the last build.
const keeps = process.argv.includes('--keep-reference') && existsSync(join(pagesFolder, 'api'))
if (!keeps) call('typedoc', ['--options', 'typedoc.config.mjs'])
const address = readAddress()
const pages = writeDocuments(address)
await writePicture()
call('vitepress', ['build'])
writeTexts(pages, address, join(site, 'dist'))

async function writePicture() {
  // The queue that it is drawn from is read from its sources.
  const { status } = spawnSync(
    process.execPath,
    [
      '--conditions=sluice-source',
      '--no-warnings',
      'src/moving-picture.mjs',
      join(pagesFolder, 'public', 'moving'),
    ],
    { cwd: site, stdio: 'inherit' },
  )
  if (status !== 0) process.exit(status ?? 1)
}
