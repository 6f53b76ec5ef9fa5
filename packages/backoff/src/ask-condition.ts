import type { Condition } from './exponential-backoff.ts'
import { isAbortOf } from './interrupted.ts'

/** Calls a condition. Where that ends by the abort of its signal, the reason is its error. */
export async function askCondition(condition: Condition, signal: AbortSignal): Promise<boolean> {
  try {
    return await condition(signal)
  } catch (error) {
    throw isAbortOf(signal, error) ? signal.reason : error
  }
}
