import { posix } from 'node:path'
import type { Repository } from '../../repository.ts'

const folder = 'docs/decisions'

/** Every decision is in the index, has a number of its own, and has the same parts. */
export function decisions(repository: Repository): string[] {
  const index = repository.get(`${folder}/README.md`) ?? ''
  const records = [...repository.keys()]
    .filter((path) => posix.dirname(path) === folder && /^\d{4}-/.test(posix.basename(path)))
    .sort()
  const problems: string[] = []
  const taken = new Set<string>()
  for (const path of records) {
    const name = posix.basename(path)
    if (!index.includes(`(${name})`)) problems.push(`${path}: is not in the index`)
    const number = name.slice(0, 4)
    if (taken.has(number)) problems.push(`${path}: ${number} is taken`)
    taken.add(number)
    for (const part of ['Context', 'Decision', 'Consequences', 'Alternatives', 'Proof']) {
      if (!repository.get(path)?.includes(`\n## ${part}\n`))
        problems.push(`${path}: lacks "## ${part}"`)
    }
  }
  return problems
}
