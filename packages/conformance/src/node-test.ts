import { describe, test } from 'node:test'
import type { Case, CreateSubject } from './case.ts'
import { allCases } from './cases/all.ts'
import { checkExceptions, failureText, type RunOptions, runCase } from './run-cases.ts'

/** Tests a driver: one test of `node:test` for each case. */
export function examine(
  name: string,
  create: CreateSubject,
  options: RunOptions & { readonly cases?: readonly Case[] } = {},
): void {
  const { cases = allCases } = options
  checkExceptions(options.except, cases)
  // node:test reports a failing suite; the promise need not be awaited.
  void describe(name, () => {
    for (const chosen of cases) {
      void test(chosen.id, async (context) => {
        const result = await runCase(chosen, create, options)
        if (result.verdict === 'failed') {
          throw new Error(failureText(result), { cause: result.error })
        }
        if (result.verdict !== 'passed') context.skip(result.reason)
      })
    }
  })
}
