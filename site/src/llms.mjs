// What programs read: each page as Markdown beside its HTML, a list of all pages in llms.txt, and
// the documents in one file, llms-full.txt.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pagesFolder } from './documents.mjs'
import { shown, sidebarOf, summaryOf } from './pages.mjs'

export function writeTexts(pages, address, dist) {
  const names = new Map(pages.map(({ path, name }) => [path, name]))
  const texts = new Map()
  for (const page of pages) {
    const text = shown(page, { repository: address.repository, base: address.site }, names)
    texts.set(`/${page.name.replace(/(^|\/)index$/, '$1')}`, { page, text })
    write(join(dist, `${page.name}.md`), text)
  }
  for (const entry of readdirSync(join(pagesFolder, 'api'), { recursive: true })) {
    if (!entry.endsWith('.md')) continue
    const text = readFileSync(join(pagesFolder, 'api', entry), 'utf8')
    write(join(dist, 'api', entry), text.replace(/^---\n[\s\S]*?\n---\n\n/, ''))
  }
  for (const own of ['index.md', 'playground.md']) {
    write(join(dist, own), readFileSync(join(pagesFolder, own), 'utf8'))
  }
  write(join(dist, 'llms.txt'), list(pages, texts, address))
  write(join(dist, 'llms-full.txt'), [...inOrder(pages, texts)].join('\n\n---\n\n'))
}

function list(pages, texts, { site }) {
  const parts = [
    '# Sluice',
    '> The Kubernetes client-go work queue for TypeScript, made durable: keys, not jobs. In memory, in a SQLite file, in Postgres.',
    `All documents in one file: ${site}llms-full.txt. The reference of every export: ${site}api/index.md.`,
  ]
  for (const { text, items } of sidebarOf(pages)) {
    const lines = items.map(({ link, text: title }) => {
      const { page } = texts.get(link)
      return `- [${title}](${site}${page.name}.md): ${summaryOf(page.text)}`
    })
    parts.push(`## ${text}`, lines.join('\n'))
  }
  return `${parts.join('\n\n')}\n`
}

function* inOrder(pages, texts) {
  for (const { items } of sidebarOf(pages)) {
    for (const { link } of items) yield texts.get(link).text.trim()
  }
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
