import { SluiceRangeError, SluiceTypeError } from '../errors.ts'
import { describeValue } from './describe-value.ts'

/** Holds for what a timer may wait: any number of milliseconds, the infinite ones too. */
export function checkTimerMs(parameter: string, ms: unknown): void {
  if (typeof ms === 'number' && !Number.isNaN(ms)) return
  throw new SluiceTypeError(parameter, `must be a number of milliseconds; got ${describeValue(ms)}`)
}

/** Holds for the period of a ticker: what a timer may wait, if it is above zero. */
export function checkTickerMs(parameter: string, ms: number): void {
  checkTimerMs(parameter, ms)
  if (ms > 0) return
  throw new SluiceRangeError(parameter, `must be above 0 ms; got ${describeValue(ms)}`)
}
