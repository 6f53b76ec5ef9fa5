/**
 * Tells a test whether it can run, given that `thing` was `found` on this machine or not.
 *
 * On a developer's machine, a test skips what is missing. Where everything must be installed, such as
 * in CI, `SLUICE_REQUIRE_ALL=1` makes this throw instead of returning false, so that no check is
 * skipped unnoticed.
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
