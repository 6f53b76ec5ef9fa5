import { type SluiceEvent, sluiceChannel, systemClock, type TracedVerb } from '@sluice/core'
import { isDebugging, printDebug, textOf } from '../environment/environment.ts'

/** How much of a request or a reply is written, in characters. */
const textMax = 400

/** The events that are no calls: they have no reply to wait for. */
const notices: ReadonlySet<TracedVerb> = new Set([
  'lease-lost',
  'held-dropped',
  'loop-blocked',
  'limiter-failed',
  'add-after',
  'worker-started',
  'worker-stopped',
  'acted',
  'shut-down',
  'closed',
  'error',
])

let isOn = false

/** With NODE_DEBUG=sluice, writes every event of the tracing channel to stderr, once per process. */
export function startDebugLog(): void {
  if (isOn || !isDebugging()) return
  isOn = true
  const startedAt = new WeakMap<SluiceEvent, number>()
  const ended = (event: SluiceEvent): void => {
    const at = startedAt.get(event)
    if (at === undefined) return
    startedAt.delete(event)
    printDebug(lineOf(event, systemClock.monotonicMs() - at))
  }
  sluiceChannel.subscribe({
    start: (event) => void startedAt.set(event, systemClock.monotonicMs()),
    end: (event) => {
      // A call that answers later ends with `asyncEnd`.
      if ('result' in event || 'error' in event || notices.has(event.verb)) ended(event)
    },
    asyncStart: () => undefined,
    asyncEnd: ended,
    error: () => undefined,
  })
}

function lineOf(event: SluiceEvent, ms: number): string {
  const { verb, queue, driver, request, result, error } = event
  const call = `${JSON.stringify(queue)} ${driver} ${verb}${written(request)}`
  const took = notices.has(verb) ? '' : ` in ${ms.toFixed(1)} ms`
  if (error === undefined) return `${call}${written(result)}${took}`
  const stack = error instanceof Error ? error.stack : undefined
  return `${call} failed${took}: ${stack ?? textOf(error)}`
}

/** A request or a reply in short. Items are left out: they are the user's data. */
function written(value: unknown): string {
  if (value === undefined) return ''
  try {
    const text = JSON.stringify(value, (name, member: unknown) =>
      name === 'item' || name === 'itemText' ? undefined : member,
    )
    return ` ${text.length > textMax ? `${text.slice(0, textMax)}…` : text}`
  } catch {
    return ' …'
  }
}
