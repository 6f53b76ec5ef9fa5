import type { Repository } from '../repository.ts'

// Written in pieces, so that this file does not break its own rule.
const machineFolders = ['work', 'root', 'tmp', 'home'].join('|')
const machinePath = new RegExp(`(^|[\\s'"\`(=:<>])/(${machineFolders})(/|\\b)`)
const packageSource = new RegExp(
  [
    '\\bregistry\\.[a-z0-9-]+\\.(com|org|net|io|dev|cloud)\\b',
    `npm${'js'}\\.(org|com)`,
    `arti${'factory'}`,
    `ver${'daccio'}`,
  ].join('|'),
  'i',
)

/** Nothing in the repository knows on which machine it was written or from where it installs. */
export function anonymous(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    for (const [index, line] of text.split('\n').entries()) {
      if (machinePath.test(line)) problems.push(`${path}:${index + 1}: a path of one machine`)
      if (packageSource.test(line))
        problems.push(`${path}:${index + 1}: the name of a package registry`)
    }
  }
  return problems
}
