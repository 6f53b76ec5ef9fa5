import type { JSX } from 'preact'
import { storeTime } from '../live/store-time.ts'
import { clockTime, countdown, duration, isoTime } from '../text/durations.ts'

/** The time since an instant; updates automatically. */
export function Age({ at }: { readonly at: number }): JSX.Element {
  return (
    <time dateTime={isoTime(at)} title={clockTime(at, storeTime.peek())}>
      {ageOf(storeTime.value - at)}
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

/** Ages change once a second: running tenths in every row would distract. */
function ageOf(ms: number): string {
  return ms < 1_000 ? '<1\u00a0s' : duration(Math.floor(ms / 1_000) * 1_000).replace('.0', '')
}
