/**
 * Tells a test whether it can run, given that `thing` was `found` on this machine or not.
 *
 * A missing thing is a reason to skip on somebody's laptop, and a failure where everything is
 * meant to be there: with `SLUICE_REQUIRE_ALL=1`, as in CI, this throws instead of answering
 * false, so that no check ever goes quiet unnoticed.
 *
 * ```ts no-run
 * import { needs } from '@sluice/needs'
 * import { describe } from 'vitest'
 *
 * const server = process.env['DATABASE_URL']
 * describe.skipIf(!needs('a Postgres server', server !== undefined))('listening', () => {})
 * ```
 */
export function needs(thing: string, found: boolean): boolean {
  if (found) return true
  if (process.env['SLUICE_REQUIRE_ALL'] === '1') {
    throw new Error(`${thing} is missing, and SLUICE_REQUIRE_ALL=1 says that nothing may be`)
  }
  console.warn(`skipped: ${thing} is missing`)
  return false
}
