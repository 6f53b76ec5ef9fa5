import { isTest, type Repository } from '../repository.ts'
import { callsOf } from '../source-text.ts'

const waiting = 'vi.waitFor'

/**
 * Without a timeout, `vi.waitFor` gives up after a second, whatever the configuration says, and a busy
 * machine may be still for that long. `expect.poll` has the timeout of the configuration.
 */
export function patient(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!isTest(path) || !text.includes(`${waiting}(`)) continue
    for (const { args, line } of callsOf(waiting, path, text)) {
      if (args > 1) continue
      problems.push(
        `${path}:${line}: ${waiting} gives up after a second; use expect.poll, or give it a timeout`,
      )
    }
  }
  return problems
}
