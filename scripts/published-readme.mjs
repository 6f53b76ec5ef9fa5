// The README of a package as the registry shows it. In the repository its links are relative, so
// that they work in a checkout and tidy can follow them; a reader of the registry has no checkout.
import { posix } from 'node:path'

/** The document that the registry shows for a package: that of `sluice` is the repository's own. */
export function readmeOf({ folder, name }) {
  return name === 'sluice' ? 'README.md' : posix.join(folder, 'README.md')
}

/** A README with absolute links and pictures, and without what only the doctest reads. */
export function publishedReadme(text, path, repository) {
  const absolute = (target) => {
    if (/^([a-z]+:|#)/i.test(target)) return target
    const [file, anchor] = target.split('#')
    const full = posix.join(posix.dirname(path), file)
    if (/\.(png|svg|gif|jpe?g|webp)$/.test(full)) {
      return `${repository.replace('://github.com/', '://raw.githubusercontent.com/')}/HEAD/${full}`
    }
    const kind = posix.extname(full) === '' ? 'tree' : 'blob'
    return `${repository}/${kind}/HEAD/${full}${anchor === undefined ? '' : `#${anchor}`}`
  }
  return outsideFences(text, (prose) =>
    prose
      .replace(/<!-- setup\n[\s\S]*?\n-->\n/g, '')
      .replace(/\]\(([^)\s]+)\)/g, (_, target) => `](${absolute(target)})`)
      .replace(
        /\b(src|srcset|href)="([^"]+)"/g,
        (_, name, target) => `${name}="${absolute(target)}"`,
      ),
  )
}

/** The targets of a README that a reader of the registry cannot follow. */
export function relativeTargets(text) {
  const found = []
  outsideFences(text, (prose) => {
    for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g)) found.push(target)
    for (const [, , target] of prose.matchAll(/\b(src|srcset|href)="([^"]+)"/g)) found.push(target)
    return prose
  })
  return found.filter((target) => !/^(https:|#)/.test(target))
}

function outsideFences(text, change) {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : change(part)))
    .join('')
}
