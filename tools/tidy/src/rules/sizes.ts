import { isSource, type Repository } from '../repository.ts'

const linesMax = 500

/** Lines that are neither blank nor only a comment. */
function codeLines(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length
}

/** A source file has at most 500 lines of code; blank lines and comments do not count. */
export function sizes(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!isSource(path)) continue
    const lines = codeLines(text)
    if (lines > linesMax) problems.push(`${path}: ${lines} lines of code; ${linesMax} are allowed`)
  }
  return problems
}
