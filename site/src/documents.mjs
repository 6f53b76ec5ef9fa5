// Writes the pages that VitePress builds into .cache/pages: the documents of the repository, their
// pictures, and the pages that only the site has.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { outsideFences, picturesOf, readPages, root, shown } from './pages.mjs'

const site = join(root, 'site')
export const pagesFolder = join(site, '.cache', 'pages')

/** Writes every page but those of the reference, which typedoc has written before. */
export function writeDocuments(address) {
  for (const entry of readdirSync(pagesFolder, { withFileTypes: true })) {
    if (entry.name !== 'api') rmSync(join(pagesFolder, entry.name), { recursive: true })
  }
  const pages = readPages()
  const names = new Map(pages.map(({ path, name }) => [path, name]))
  for (const page of pages) {
    const text = shown(page, { repository: address.repository, base: '/' }, names)
    const source = `${address.repository}/edit/main/${page.path}`
    write(`${page.name}.md`, `---\neditLink: ${source}\n---\n\n${escaped(text)}`)
  }
  for (const path of picturesOf(pages)) {
    cpSync(join(root, path), join(pagesFolder, 'public', 'pictures', path), { recursive: true })
  }
  // The pages that only the site has link to documents in the same way.
  for (const name of readdirSync(join(site, 'pages'))) {
    const page = {
      path: `site/pages/${name}`,
      text: readFileSync(join(site, 'pages', name), 'utf8'),
    }
    write(name, shown(page, { repository: address.repository, base: '/' }, names))
  }
  cpSync(join(site, 'public'), join(pagesFolder, 'public'), { recursive: true })
  tidyReference()
  return pages
}

function write(name, text) {
  const file = join(pagesFolder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** VitePress reads pages as templates: what looks like one in prose is text. */
function escaped(text) {
  return outsideFences(text, (prose) =>
    prose.replaceAll('{{', '&#123;&#123;').replace(/<(?=[A-Z]\w*>)/g, '&lt;'),
  )
}

/** The pages of typedoc, whose main entry points have neither a title nor a name for a page. */
function tidyReference() {
  const folder = join(pagesFolder, 'api')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.md')) continue
    const file = join(entry.parentPath, entry.name)
    const text = readFileSync(file, 'utf8')
    if (text.startsWith('---')) continue
    const name = relative(folder, entry.parentPath).split(sep).join('/')
    const titled = text
      .replace(/^# \n/, `# ${name}\n`)
      .replaceAll(/\[\]\((\.\.\/)*README\.md\)/g, `[${name}](main.md)`)
      .replaceAll('README.md', 'main.md')
    rmSync(file)
    const target = join(entry.parentPath, entry.name.replace('README.md', 'main.md'))
    writeFileSync(target, `---\neditLink: false\noutline: [2, 3]\n---\n\n${escaped(titled)}`)
  }
}
