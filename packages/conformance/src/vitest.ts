import { describe, test } from 'vitest'
import type { Case, CreateSubject } from './case.ts'
import { allCases } from './cases/all.ts'
import { checkExceptions, failureText, type RunOptions, runCase } from './run-cases.ts'

/**
 * Examines a driver: one vitest test for each case.
 *
 * ```ts
 * examine('my driver', () => ({ driver: myDriver(), clock: fakeClock() }))
 * ```
 */
export function examine(
  name: string,
  create: CreateSubject,
  options: RunOptions & { readonly cases?: readonly Case[] } = {},
): void {
  const { cases = allCases } = options
  checkExceptions(options.except, cases)
  describe(name, () => {
    for (const chosen of cases) {
      test(chosen.id, async (context) => {
        const result = await runCase(chosen, create, options)
        if (result.verdict === 'failed') {
          throw new Error(failureText(result), { cause: result.error })
        }
        if (result.verdict !== 'passed') context.skip(result.reason)
      })
    }
  })
}
