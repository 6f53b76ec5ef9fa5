import { isSource, type Repository } from '../repository.ts'

const linesMax = 400

export function sizes(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!isSource(path) || path.endsWith('.generated.ts')) continue
    const lines = text.replace(/\n$/, '').split('\n').length
    if (lines > linesMax) problems.push(`${path}: ${lines} lines; ${linesMax} is the wall`)
  }
  return problems
}
