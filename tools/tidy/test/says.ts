import assert from 'node:assert/strict'
import type { Repository } from '../src/repository.ts'
import type { Rule } from '../src/rules.ts'

function repository(files: Record<string, unknown>): Repository {
  return new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : JSON.stringify(content),
    ]),
  )
}

/**
 * Checks what a rule says of a made-up repository. Each rule gets one that breaks it, which it must
 * report, and one that keeps it: a rule that never complains would otherwise pass every test.
 */
export function says(rule: Rule, files: Record<string, unknown>, ...expected: RegExp[]): void {
  const problems = rule(repository(files))
  assert.equal(problems.length, expected.length, problems.join('\n') || 'no problem found')
  for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? '', pattern)
}

/** The manifest of a package that others stand on. */
export const core = {
  name: '@sluice/core',
  exports: { '.': { 'sluice-source': './src/index.ts' } },
}
/** Where it lies. */
export const coreFolder = 'packages/core/package.json'
