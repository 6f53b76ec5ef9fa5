import { posix } from 'node:path'
import type { Repository } from '../../repository.ts'

const folder = 'docs/decisions'

/** Every decision is in the index under its title, has a number of its own and the same parts, and names tests that exist. */
export function decisions(repository: Repository): string[] {
  const index = repository.get(`${folder}/README.md`) ?? ''
  const records = [...repository.keys()]
    .filter((path) => posix.dirname(path) === folder && /^\d{4}-/.test(posix.basename(path)))
    .sort()
  const problems: string[] = []
  const taken = new Set<string>()
  for (const path of records) {
    const name = posix.basename(path)
    const text = repository.get(path) ?? ''
    const title = /^# \d{4}: (.*)/.exec(text)?.[1]
    if (!index.includes(`](${name}) | ${title} |`)) {
      problems.push(`${path}: is not in the index under its title`)
    }
    const number = name.slice(0, 4)
    if (taken.has(number)) problems.push(`${path}: ${number} is taken`)
    taken.add(number)
    for (const part of ['Context', 'Decision', 'Consequences', 'Alternatives', 'Proof']) {
      if (!text.includes(`\n## ${part}\n`)) problems.push(`${path}: lacks "## ${part}"`)
    }
    for (const [, named] of text.matchAll(/`([^`\s]+\.test\.ts)`/g)) {
      const exists = [...repository.keys()].some((file) => `/${file}`.endsWith(`/${named}`))
      if (!exists) problems.push(`${path}: names ${named}, which does not exist`)
    }
  }
  return problems
}
