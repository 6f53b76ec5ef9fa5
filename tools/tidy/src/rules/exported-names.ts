import { posix } from 'node:path'
import { isSource, packageOf, packagesOf, type Repository } from '../repository.ts'
import { exportsOf } from '../source-text.ts'

/** A file with more exports than this is named for the idea that they make together. */
const exportsMax = 2

/**
 * A file with one or two exports is named for one of them: the words of the file name occur in the
 * exported name. Exempt are entry points, whose names are part of the public paths, and the file
 * that bears the name of its folder.
 */
export function exportedNames(repository: Repository): string[] {
  const packages = packagesOf(repository)
  const entries = new Set(
    packages.flatMap(({ folder, manifest }) =>
      Object.values(manifest.exports ?? {}).map((target) =>
        posix.join(folder, typeof target === 'string' ? target : (target['sluice-source'] ?? '')),
      ),
    ),
  )
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!isSource(path) || entries.has(path) || packageOf(path, packages) === undefined) continue
    const stem = posix.basename(path).replace(/\.tsx?$/, '')
    const names = exportsOf(path, text)
    if (names.length === 0 || names.length > exportsMax) continue
    if (stem === posix.basename(posix.dirname(path))) continue
    const isNamed = names.some((name) => {
      const words = wordsOf(name)
      return wordsOf(stem).every((word) => words.includes(word))
    })
    if (!isNamed) problems.push(`${path}: is named for none of its exports (${names.join(', ')})`)
  }
  return problems
}

/** The words of a name in kebab case or camel case, in the singular. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .split('-')
    .map((word) =>
      word
        .replace(/ies$/, 'y')
        .replace(/(ss|x)es$/, '$1')
        .replace(/([^s])s$/, '$1'),
    )
}
