import type { JSX } from 'preact'
import { trouble } from '../live/live.ts'
import { storeTime } from '../live/store-time.ts'
import { duration } from '../text/durations.ts'
import { Icon } from '../ui/icon.tsx'

function Seconds({ since }: { readonly since: number }): JSX.Element {
  void storeTime.value
  const ms = Math.max(0, Date.now() - since)
  return <>{duration(Math.floor(ms / 1_000) * 1_000)}</>
}

/** Says that nothing new comes, since when and why; goes by itself. */
export function TroubleBanner(): JSX.Element | null {
  const { value } = trouble
  if (value === undefined) return null
  return (
    <div class="trouble" data-what={value.what}>
      <Icon name="warn" />
      <span>
        {value.what === 'store' ? 'The store cannot be reached' : 'The connection is lost'} since{' '}
        <Seconds since={value.since} />: {value.words}
        {'. '}
        <span class="faint">What is shown is older. It is tried again by itself.</span>
      </span>
    </div>
  )
}
