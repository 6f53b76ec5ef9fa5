import { checkNumber } from '@sluice/core'

/** Asserts a number of tokens per second: zero or more, `Infinity` included. */
export function checkRatePerSecond(parameter: string, perSecond: unknown): number {
  return perSecond === Infinity ? Infinity : checkNumber(parameter, perSecond, { min: 0 })
}

/** Asserts a whole number of tokens, zero or more. */
export function checkRateTokens(parameter: string, tokens: unknown): number {
  return checkNumber(parameter, tokens, { min: 0, integer: true })
}
