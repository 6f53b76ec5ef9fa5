// Which document of the repository is which page of the site. A document that is added to a folder
// is a page without being named anywhere.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where a document is shown; undefined if it is not a page. Names have no ending. */
export function pageOf(path) {
  if (path === 'README.md') return 'introduction'
  if (path === 'docs/README.md') return 'documentation'
  const inDocs = /^docs\/(.+)\.md$/.exec(path)?.[1]
  if (inDocs !== undefined) return inDocs.replace(/(^|\/)README$/, '$1index')
  const readme = /^(packages|examples)\/([^/]+)\/README\.md$/.exec(path)
  if (readme !== null) return `${readme[1]}/${readme[2]}`
  if (path === 'benchmarks/README.md') return 'benchmarks'
  const atRoot = /^([A-Z_]+)\.md$/.exec(path)?.[1]
  return atRoot?.toLowerCase().replaceAll('_', '-')
}

/** Every page: its document, its name, its title and its text. */
export function readPages() {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '' && pageOf(path) !== undefined && existsSync(join(root, path)))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll(/[*_`]/g, '') ?? path
      return { path, name: pageOf(path), title, text }
    })
}

/** The first paragraph of a page, on one line. */
export function summaryOf(text) {
  const prose = withoutHidden(text).replace(/^# .+$/m, '')
  const first = prose.split(/\n\s*\n/).find((part) => /^[A-Za-z*[`]/.test(part.trim())) ?? ''
  return first
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/[*`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A document without what only the doctest reads. */
export function withoutHidden(text) {
  return text.replace(/<!-- setup\n[\s\S]*?\n-->\n/g, '')
}

/**
 * A document as it is shown on the site: links to other documents lead to their pages, links to other
 * files to the repository, and pictures to the copies that lie beside the pages.
 */
export function shown({ path, text }, { repository, base }, pages) {
  const target = (link) => {
    // Pages that only the site has name each other, and their pictures, as the site does.
    if (/^([a-z]+:|#|\/|\.\/[\w-]+$)/i.test(link)) return link
    const [file, anchor] = link.split('#')
    const full = posix.join(posix.dirname(path), file).replace(/\/$/, '')
    const hash = anchor === undefined ? '' : `#${anchor}`
    const page = pages.get(full) ?? pages.get(posix.join(full, 'README.md'))
    if (page !== undefined) return `${base}${page.replace(/(^|\/)index$/, '$1')}${hash}`
    if (/\.(png|svg|gif)$/.test(full)) return `${base}pictures/${full}`
    return `${repository}/${posix.extname(full) === '' ? 'tree' : 'blob'}/HEAD/${full}${hash}`
  }
  return outsideFences(withoutHidden(text), (prose) =>
    twoThemes(prose)
      .replace(/\]\(([^)\s]+)\)/g, (_, link) => `](${target(link)})`)
      .replace(/\b(src|srcset|href)="([^"]+)"/g, (_, name, link) => `${name}="${target(link)}"`),
  )
}

/** A picture for two themes, as the theme of the site shows them: it may differ from the system's. */
function twoThemes(prose) {
  const picture =
    /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)"\s+src="([^"]+)">\s*<\/picture>/g
  return prose.replace(picture, (_, dark, alt, light) =>
    [
      `<img class="light-only" alt="${alt}" src="${light}">`,
      `<img class="dark-only" alt="${alt}" src="${dark}">`,
    ].join('\n'),
  )
}

/** The pictures that the documents show, by their paths in the repository. */
export function picturesOf(pages) {
  const found = new Set()
  for (const { path, text } of pages) {
    const links = [
      ...text.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g),
      ...text.matchAll(/\b(?:src|srcset)="([^"]+)"/g),
    ]
    for (const [, link] of links) {
      if (!/^[a-z]+:/i.test(link)) found.add(posix.join(posix.dirname(path), link))
    }
  }
  return [...found].sort()
}

/** Changes the prose of a document: neither its fences nor its code spans. */
export function outsideFences(text, change) {
  return text
    .split(/(^ *(?:```|~~~)[\s\S]*?^ *(?:```|~~~) *$|`[^`\n]+`)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('')
}

const groups = [
  ['guides', 'Guides'],
  ['operating', 'Operating'],
  ['reference', 'Reference'],
  ['packages', 'Packages'],
  ['examples', 'Examples'],
  ['internals', 'How it works inside'],
  ['decisions', 'Decisions'],
  ['project', 'Project'],
]

/** The groups of the side bar. A folder of docs/ that is new gets a group of its name. */
export function sidebarOf(pages) {
  const folders = new Map([['', []]])
  for (const [folder] of groups) folders.set(folder, [])
  const order = orderOf(pages)
  const titleOf = ({ name, title }) => (name === 'introduction' ? 'Introduction' : title)
  const sorted = [...pages].sort(
    (a, b) => (order.get(a.path) ?? 999) - (order.get(b.path) ?? 999) || (a.path < b.path ? -1 : 1),
  )
  for (const page of sorted) {
    const { name } = page
    const title = titleOf(page)
    const isProject = /^(?!README|ARCHITECTURE)[A-Z_]+\.md$|^benchmarks\//.test(page.path)
    const folder = isProject ? 'project' : name.includes('/') ? name.split('/')[0] : ''
    if (!folders.has(folder)) folders.set(folder, [])
    const text = folder === 'decisions' ? title.replace(/^(\d+): /, '$1 ') : title
    folders.get(folder).push({ text, link: `/${name.replace(/(^|\/)index$/, '$1')}` })
  }
  const names = new Map(groups)
  return [...folders]
    .filter(([, items]) => items.length > 0)
    .map(([folder, items]) =>
      folder === ''
        ? { text: 'Sluice', items }
        : {
            text: names.get(folder) ?? folder[0].toUpperCase() + folder.slice(1),
            items,
          },
    )
}

// Readers find the documents in the order in which the overview of docs/ names them.
function orderOf(pages) {
  const overview = pages.find(({ path }) => path === 'docs/README.md')
  const order = new Map()
  for (const [, link] of overview?.text.matchAll(/\]\(([^)#\s]+)/g) ?? []) {
    const path = posix.join('docs', link)
    if (!order.has(path)) order.set(path, order.size)
  }
  return order
}
