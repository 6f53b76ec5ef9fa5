import { isSource, type Repository } from '../repository.ts'

const linesMax = 500

/** Lines that are neither blank nor only a comment. */
function codeLines(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length
}

export function sizes(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!isSource(path) || path.endsWith('.generated.ts')) continue
    const lines = codeLines(text)
    if (lines > linesMax) problems.push(`${path}: ${lines} lines of code; ${linesMax} are allowed`)
  }
  return problems
}
