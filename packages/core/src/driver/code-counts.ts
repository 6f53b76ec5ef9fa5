import { compareKeys } from '../keys/compare-keys.ts'

/** How many codes of errors a step has; those with fewer failed runs are dropped. */
export const historyCodesMax = 8

/** How many failed runs had which code, most first; the name of an error stands for a missing code. */
export type CodeCounts = readonly (readonly [code: string, failed: number])[]

/** The sum of two lists, no longer than {@link historyCodesMax}. */
export function addCodes(a: CodeCounts, b: CodeCounts): CodeCounts {
  const sums = new Map(a)
  for (const [code, failed] of b) sums.set(code, (sums.get(code) ?? 0) + failed)
  const most = [...sums].sort((x, y) => y[1] - x[1] || compareKeys(x[0], y[0]))
  return most.slice(0, historyCodesMax)
}
