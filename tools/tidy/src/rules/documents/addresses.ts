import type { Manifest, Repository } from '../../repository.ts'
import { anchorsOf } from './markdown.ts'

/**
 * The root manifest says where the repository and its site are; what errors, alerts and documents
 * name there exists here.
 */
export function addresses(repository: Repository): string[] {
  const root = JSON.parse(repository.get('package.json') ?? '{}') as Manifest
  const source = root.repository?.['url']?.replace(/^git\+/, '').replace(/\.git$/, '')
  const site = root.homepage
  if (source === undefined || site === undefined) {
    return ['package.json: lacks the repository or the homepage']
  }
  const problems: string[] = []
  for (const [path, text] of repository) {
    for (const [index, line] of text.split('\n').entries()) {
      const tell = (target: string): void => {
        problems.push(`${path}:${index + 1}: ${target} leads nowhere`)
      }
      for (const { start, rest } of startingWith(line, `${source}/blob/HEAD/`)) {
        if (!leads(repository, rest.replace(/#.*/, ''), rest)) tell(start + rest)
      }
      for (const { start, rest } of startingWith(line, site)) {
        const page = rest.replace(/#.*/, '')
        const files = [`docs/${page}.md`, `site/pages/${page}.md`]
        if (page !== '' && !files.some((file) => leads(repository, file, rest))) tell(start + rest)
      }
    }
  }
  return problems
}

function startingWith(line: string, start: string): { start: string; rest: string }[] {
  return line
    .split(start)
    .slice(1)
    .map((after) => ({ start, rest: /^[\w./#${}-]*/.exec(after)?.[0] ?? '' }))
}

/** The file exists, and so does the heading, unless the program works out which. */
function leads(repository: Repository, file: string, target: string): boolean {
  const page = repository.get(file)
  const anchor = target.split('#')[1]
  if (page === undefined) return false
  return anchor === undefined || anchor.startsWith('$') || anchorsOf(page).has(anchor)
}
