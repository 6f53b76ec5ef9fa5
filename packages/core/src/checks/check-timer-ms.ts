import { SluiceRangeError, SluiceTypeError } from '../errors.ts'
import { describeValue } from './describe-value.ts'

/** Accepts the delay of a timer: any number of milliseconds, infinite ones too. */
export function checkTimerMs(ms: unknown): void {
  if (typeof ms === 'number' && !Number.isNaN(ms)) return
  throw new SluiceTypeError('ms', `must be a number of milliseconds; got ${describeValue(ms)}`)
}

/** Accepts the period of a ticker: the delay of a timer, above zero. */
export function checkTickerMs(ms: number): void {
  checkTimerMs(ms)
  if (ms > 0) return
  throw new SluiceRangeError('ms', `must be above 0 ms; got ${describeValue(ms)}`)
}
