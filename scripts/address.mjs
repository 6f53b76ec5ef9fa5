// Where the repository and its site are on the internet. The root package.json says it once; every
// manifest and every text that needs an absolute address repeats it. `npm run address -- URL [SITE]`
// replaces it everywhere.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, root, say } from './toolbox.mjs'

/** The repository without a slash at the end, and the site with one. */
export function readAddress(folder = root) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const repository = manifest.repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
  return { repository, site: manifest.homepage }
}

/** What GitHub Pages calls the site of a repository. */
function pagesOf(repository) {
  const [owner, name] = new URL(repository).pathname.slice(1).split('/')
  return `https://${owner.toLowerCase()}.github.io/${name}/`
}

/** The text with every address replaced: the site's first, which may contain that of the repository. */
export function moved(text, from, to) {
  return text.replaceAll(from.site, to.site).replaceAll(from.repository, to.repository)
}

/** The new address that a command line names, or what is wrong with it. */
export function parseAddress([repository, site]) {
  if (repository === undefined || !/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(repository)) {
    return { problem: 'usage: npm run address -- https://github.com/OWNER/NAME [https://SITE/]' }
  }
  if (site !== undefined && !/^https:\/\/[^\s]+\/$/.test(site)) {
    return {
      problem: `the address of the site must begin with https:// and end with a slash: ${site}`,
    }
  }
  return { repository, site: site ?? pagesOf(repository) }
}

/** Moves every text of the checkout to another address. */
export function changeAddress(args) {
  const to = parseAddress(args)
  if (to.problem !== undefined) fail(to.problem)
  const from = readAddress()
  const paths = execFileSync('git', ['grep', '-lIF', '-e', from.repository, '-e', from.site], {
    cwd: root,
    encoding: 'utf8',
  })
  let count = 0
  for (const path of paths.split('\n').filter((line) => line !== '')) {
    const text = readFileSync(join(root, path), 'utf8')
    const next = moved(text, from, to)
    if (next === text) continue
    writeFileSync(join(root, path), next)
    count += 1
  }
  say(`${count} files now say ${to.repository} and ${to.site}`)
  return 0
}
