import type { rules } from './rules.ts'

type RuleName = keyof typeof rules

/**
 * The beginnings of paths that do not keep a rule yet. The list only shrinks: a test fails for an
 * exemption that is no longer needed.
 */
export const exemptions: Readonly<Partial<Record<RuleName, readonly string[]>>> = {
  'circles of imports are small': ['packages/queue/'],
  'a file is named for what it exports': [
    'packages/conformance/',
    'packages/limiters/',
    'packages/metrics/',
    'packages/postgres/',
    'packages/queue/',
  ],
  'folders stay small': [
    'packages/backoff/',
    'packages/metrics/',
    'packages/postgres/',
    'packages/queue/',
  ],
  'comments and documents use the words of the field': [
    '.changeset/',
    'ARCHITECTURE.md',
    'README.md',
    'SECURITY.md',
    'apps/demo/',
    'benchmarks/',
    'docs/',
    'examples/',
    'packages/backoff/',
    'packages/conformance/',
    'packages/metrics/',
    'packages/postgres/',
    'packages/queue/',
    'tests/',
  ],
}

/** The problems that no exemption of a rule covers. */
export function withoutExempt(rule: RuleName, problems: readonly string[]): string[] {
  const paths = exemptions[rule] ?? []
  return problems.filter((problem) => !paths.some((path) => problem.startsWith(path)))
}

/** The exemptions of a rule that cover none of its problems. */
export function needlessExemptions(rule: RuleName, problems: readonly string[]): string[] {
  const paths = exemptions[rule] ?? []
  return paths.filter((path) => !problems.some((problem) => problem.startsWith(path)))
}
