import { describe, test } from 'vitest'
import type { Case, CreateSubject } from './case.ts'
import { allCases } from './cases/all.ts'
import { checkExceptions, failureText, type RunOptions, runCase } from './run-cases.ts'

/**
 * Tests a driver: one vitest test for each case. `create` returns a driver that has not been opened,
 * on its own empty store, and the clock that the suite steps.
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
      // The case has its own timeouts, which say what took too long.
      test(chosen.id, { timeout: Infinity }, async (context) => {
        const result = await runCase(chosen, create, options)
        if (result.verdict === 'failed') {
          throw new Error(failureText(result), { cause: result.error })
        }
        if (result.verdict !== 'passed') context.skip(result.reason)
      })
    }
  })
}
