// Follows every link and picture of every built page without a browser.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf } from './serve.mjs'

/** Every page of the site by its path, such as `guides/testing`. */
export function builtPages(dist) {
  return readdirSync(dist, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.html') && name !== '404.html')
    .map((name) => name.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1'))
    .sort()
}

/** What is wrong with the links of the pages, a line each. */
export function brokenLinks(dist, base, pages) {
  const anchors = new Map()
  const anchorsOf = (file) => {
    if (!anchors.has(file)) {
      const html = readFileSync(file, 'utf8')
      anchors.set(file, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)))
    }
    return anchors.get(file)
  }
  const problems = new Set()
  for (const page of pages) {
    const html = readFileSync(fileOf(dist, page), 'utf8')
    for (const [, , raw] of html.matchAll(/\s(href|src)="([^"]*)"/g)) {
      const link = raw.replaceAll('&amp;', '&')
      if (/^(https?:|mailto:|data:)/.test(link)) continue
      const { pathname, hash } = new URL(link, `http://site${base}${page}`)
      const file = pathname.startsWith(base) ? fileOf(dist, pathname.slice(base.length)) : undefined
      if (file === undefined) problems.add(`${page}: ${link} leads nowhere`)
      else if (hash !== '' && file.endsWith('.html')) {
        const id = decodeURIComponent(hash.slice(1))
        if (!anchorsOf(file).has(id)) problems.add(`${page}: ${link} names no heading`)
      }
    }
  }
  return [...problems]
}

/** Addresses of the site that the packages name, in errors and alerts. */
export function brokenAddresses(dist, site, addresses) {
  return addresses.filter((address) => {
    const [path, anchor] = address.slice(site.length).split('#')
    const file = fileOf(dist, path)
    if (file === undefined) return true
    return anchor !== undefined && !readFileSync(join(file), 'utf8').includes(` id="${anchor}"`)
  })
}
