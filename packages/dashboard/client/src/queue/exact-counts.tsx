import { useSignal } from '@preact/signals'
import { keyStateWords } from '@sluice/core/words'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ExactCounts as Counted } from '../../../src/wire.ts'
import { messageOf, request } from '../live/ask.ts'
import { storeTime } from '../live/store-time.ts'
import { duration } from '../text/durations.ts'
import { grouped } from '../text/figures.ts'
import { Age } from '../ui/times.tsx'

type Found =
  | { readonly since: number }
  | { readonly counted: Counted }
  | { readonly trouble: string }

function Result({ found }: { readonly found: Found | undefined }): JSX.Element {
  if (found === undefined) return <span>Each state is counted up to 10,000 keys. </span>
  if ('since' in found) {
    return <span>Counting every key … {duration(Math.max(0, storeTime.value - found.since))} </span>
  }
  if ('trouble' in found) {
    return <span class="tone-bad">The keys could not be counted: {found.trouble} </span>
  }
  const { counts, at, tookMs } = found.counted
  const words = keyStateWords
    .filter((state) => counts[state] > 0)
    .map((state) => `${grouped(counts[state])} ${state}`)
  return (
    <span>
      <b>{words.length === 0 ? 'no keys' : words.join(', ')}</b>, counted in {duration(tookMs)},{' '}
      <Age at={at} /> ago.{' '}
    </span>
  )
}

/** Counts every key of a queue on demand, where more keys are than are counted continuously. */
export function ExactCounts({ queue }: { readonly queue: string }): JSX.Element {
  const found = useSignal<Found | undefined>(undefined)
  const counting = useRef<AbortController>(undefined)
  useEffect(() => () => counting.current?.abort(), [])
  const count = async () => {
    counting.current?.abort()
    const controller = new AbortController()
    counting.current = controller
    found.value = { since: storeTime.peek() }
    const { signal } = controller
    try {
      const path = `api/counts?${new URLSearchParams({ queue })}`
      found.value = { counted: await request<Counted>(path, { signal }) }
    } catch (error) {
      if (!signal.aborted) found.value = { trouble: messageOf(error) }
    }
  }
  const { value } = found
  const isRunning = value !== undefined && 'since' in value
  return (
    <p class="count-all" role="status">
      <Result found={value} />
      <button
        type="button"
        class="link"
        onClick={() => {
          if (!isRunning) return void count()
          counting.current?.abort()
          found.value = undefined
        }}
      >
        {isRunning ? 'Stop' : value === undefined ? 'Count every key' : 'Count again'}
      </button>
    </p>
  )
}
