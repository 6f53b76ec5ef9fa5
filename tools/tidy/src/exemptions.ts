import type { rules } from './rules.ts'

/**
 * Paths that do not keep a rule yet. The list only shrinks: a test fails for an exemption that is
 * no longer needed.
 */
export const exemptions: Partial<Record<keyof typeof rules, readonly string[]>> = {}

/** The problems that no exemption covers. */
export function notExempt(rule: keyof typeof rules, problems: readonly string[]): string[] {
  const paths = exemptions[rule] ?? []
  return problems.filter((problem) => !paths.some((path) => problem.startsWith(path)))
}
