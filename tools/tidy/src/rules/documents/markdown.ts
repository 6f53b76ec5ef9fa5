import { posix } from 'node:path'
import type { Repository } from '../../repository.ts'

/** One title a page, no dead link within the repository, and no row outside of a table. */
export function markdown(repository: Repository): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!path.endsWith('.md') || /^\.changeset\/(?!README)/.test(path)) continue
    const prose = withoutFences(text)
    const titles = prose.split('\n').filter((line) => /^# /.test(line)).length
    if (titles !== 1) problems.push(`${path}: ${titles} titles; a page has one`)
    problems.push(...deadLinks(repository, path, prose), ...strayRows(path, prose))
  }
  return problems
}

function withoutFences(text: string): string {
  return text.replace(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, '').replace(/<!--[\s\S]*?-->/g, '')
}

/** A run of lines that begin with a bar is a table only if its second line is the rule below the head. */
function strayRows(path: string, prose: string): string[] {
  const problems: string[] = []
  const lines = prose.split('\n')
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('|') || lines[index - 1]?.startsWith('|') === true) continue
    if (/^\|[\s:|-]+$/.test(lines[index + 1] ?? '')) continue
    problems.push(`${path}: a row outside of a table: ${line.slice(0, 40)}`)
  }
  return problems
}

function deadLinks(repository: Repository, path: string, prose: string): string[] {
  const problems: string[] = []
  for (const [, target = ''] of prose.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/i.test(target)) continue
    const [file = '', anchor] = target.split('#')
    const full = file === '' ? path : posix.join(posix.dirname(path), file).replace(/\/$/, '')
    const page = repository.get(full)
    const isFolder = [...repository.keys()].some((other) => other.startsWith(`${full}/`))
    if (page === undefined && !isFolder) problems.push(`${path}: the link ${target} leads nowhere`)
    else if (anchor !== undefined && page !== undefined && full.endsWith('.md')) {
      if (!anchorsOf(page).has(anchor)) problems.push(`${path}: ${target} names no heading`)
    }
  }
  return problems
}

/** The anchors of the headings of a page, as GitHub and the site make them. */
export function anchorsOf(text: string): Set<string> {
  const headings = withoutFences(text).match(/^#+ .*$/gm) ?? []
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replace(/ /g, '-'),
    ),
  )
}
