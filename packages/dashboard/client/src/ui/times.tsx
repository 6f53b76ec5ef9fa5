import type { JSX } from 'preact'
import { storeSecond, storeTime } from '../live/store-time.ts'
import { age, clockTime, countdown, isoTime } from '../text/durations.ts'

/** The time since an instant; updates automatically. */
export function Age({ at }: { readonly at: number }): JSX.Element {
  return (
    <time dateTime={isoTime(at)} title={clockTime(at, storeTime.peek())}>
      {age(storeSecond.value - at)}
    </time>
  )
}

/** The time until an instant; counts down automatically. */
export function Until({ at }: { readonly at: number }): JSX.Element {
  return (
    <time dateTime={isoTime(at)} title={clockTime(at, storeTime.peek())}>
      {countdown(at - storeTime.value)}
    </time>
  )
}

/** The time until an instant in a sentence: `in 38 s`, or `now`. */
export function In({ at }: { readonly at: number }): JSX.Element {
  return (
    <>
      {at > storeTime.value && 'in '}
      <Until at={at} />
    </>
  )
}

/** A time of the clock. */
export function Clock({ at }: { readonly at: number }): JSX.Element {
  return (
    <time dateTime={isoTime(at)} title={isoTime(at)}>
      {clockTime(at, storeTime.peek())}
    </time>
  )
}
