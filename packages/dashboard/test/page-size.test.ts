import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const folder = new URL('../dist/client/', import.meta.url)

function files(): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}

describe('the built page', () => {
  it('is under 60 kB, compressed, with its styles and whatever else is fetched', () => {
    const bytes = files().map((file) => gzipSync(readFileSync(file)).length)
    expect(bytes.length).toBeGreaterThan(2)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
  })

  it('refers only to its own server, and has no inline script or style', () => {
    const html = readFileSync(new URL('index.html', folder), 'utf8')
    expect(html.match(/(src|href)="[^"]*"/g)?.length).toBeGreaterThan(1)
    for (const [, , address] of html.matchAll(/(src|href)="([^"]*)"/g)) {
      expect(address).toMatch(/^\.\//)
    }
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style="|\son\w+=/)
  })

  it('never makes elements of texts', () => {
    const own = files().filter((file) => file.endsWith('.js'))
    for (const file of own) {
      const code = readFileSync(file, 'utf8')
      expect(code).not.toMatch(/\b(eval|insertAdjacentHTML|document\.write)\(|new Function\(/)
    }
  })
})
