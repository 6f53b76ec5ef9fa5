import { describe, test } from 'vitest'
import type { Case, CreateSubject } from './case.ts'
import { allCases } from './cases/all.ts'
import { checkExceptions, failureText, type RunOptions, runCase, timeoutOf } from './run-cases.ts'

/** How long a subject may take to come and go, in milliseconds. */
const clearingUpMs = 20_000

/**
 * Examines a driver: one vitest test for each case. `create` makes a driver that has not been
 * opened, on an empty store of its own, and the clock that the suite moves.
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
      // The case has its own end; the runner's comes after it, and after closing and clearing up.
      const timeout = timeoutOf(chosen, options) + clearingUpMs
      test(chosen.id, { timeout }, async (context) => {
        const result = await runCase(chosen, create, options)
        if (result.verdict === 'failed') {
          throw new Error(failureText(result), { cause: result.error })
        }
        if (result.verdict !== 'passed') context.skip(result.reason)
      })
    }
  })
}
