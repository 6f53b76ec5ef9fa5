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

/** What is wrong with the links of the pages, a line each: they lead nowhere, or none leads to a page. */
export function brokenLinks(dist, base, pages) {
  const anchors = new Map()
  const anchorsOf = (file) => {
    if (!anchors.has(file)) {
      const html = readFileSync(file, 'utf8')
      anchors.set(file, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)))
    }
    return anchors.get(file)
  }
  // Most links are those of the side bar, the same on every page.
  const files = new Map()
  const fileAt = (pathname) => {
    if (!files.has(pathname)) {
      const isOurs = pathname.startsWith(base)
      files.set(pathname, isOurs ? fileOf(dist, pathname.slice(base.length)) : undefined)
    }
    return files.get(pathname)
  }
  const problems = new Set()
  const reached = new Set([fileOf(dist, '')])
  for (const page of pages) {
    const own = fileOf(dist, page)
    const html = readFileSync(own, 'utf8')
    for (const [, , raw] of html.matchAll(/\s(href|src)="([^"]*)"/g)) {
      const link = raw.replaceAll('&amp;', '&')
      if (/^(https?:|mailto:|data:)/.test(link)) continue
      const { pathname, hash } = new URL(link, `http://site${base}${page}`)
      const file = fileAt(pathname)
      if (file !== own) reached.add(file)
      if (file === undefined) problems.add(`${page}: ${link} leads nowhere`)
      else if (hash !== '' && file.endsWith('.html')) {
        const id = decodeURIComponent(hash.slice(1))
        if (!anchorsOf(file).has(id)) problems.add(`${page}: ${link} names no heading`)
      }
    }
  }
  for (const page of pages) {
    if (!reached.has(fileOf(dist, page))) problems.add(`${page}: no other page leads there`)
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
