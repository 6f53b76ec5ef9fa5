import { posix } from 'node:path'
import type { Repository } from '../repository.ts'

/** Every file that a script of a manifest names exists. */
export function scripts(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (posix.basename(path) !== 'package.json') continue
    const folder = posix.dirname(path)
    const { scripts: commands = {} } = JSON.parse(text) as { scripts?: Record<string, string> }
    for (const [name, command] of Object.entries(commands)) {
      for (const file of filesOf(command)) {
        if (!repository.has(posix.join(folder, file))) {
          problems.push(`${path}: the script ${name} names ${file}, which does not exist`)
        }
      }
    }
  }
  return problems
}

/** The words of a command that are paths of sources; what is built is not in the repository. */
function filesOf(command: string): string[] {
  return command
    .split(/[\s=]+/)
    .filter((word) => /^[\w./-]+\.(ts|mts|mjs|js|json|sh)$/.test(word))
    .filter((word) => !/(^|\/)(dist|node_modules)\//.test(word))
}
