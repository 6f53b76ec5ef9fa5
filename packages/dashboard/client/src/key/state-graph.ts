import type { KeyStateWord, KeyStep } from '../../../src/wire.ts'

/** A station of the way that keys go; `add` is where they come from, `done` where they end. */
export type Station = Exclude<KeyStateWord, 'idle'> | 'add' | 'done'

/** A way from one station to the next, with the word for what makes a key take it. */
export interface Way {
  readonly from: Station
  readonly to: Station
  readonly word?: string
}

/** Every way there is. It is a circle: what is done may be asked for again. */
export const ways: readonly Way[] = [
  { from: 'add', to: 'ready', word: 'add' },
  { from: 'add', to: 'delayed', word: 'addAfter' },
  { from: 'add', to: 'backoff' },
  { from: 'delayed', to: 'ready', word: 'due' },
  { from: 'ready', to: 'processing', word: 'taken' },
  { from: 'processing', to: 'done', word: 'done' },
  { from: 'processing', to: 'dirty', word: 'asked again' },
  { from: 'processing', to: 'backoff', word: 'failed' },
  { from: 'processing', to: 'ready' },
  { from: 'processing', to: 'parked', word: 'gave up' },
  { from: 'dirty', to: 'ready', word: 'done, once more' },
  { from: 'dirty', to: 'backoff' },
  { from: 'dirty', to: 'parked' },
  { from: 'backoff', to: 'ready', word: 'due' },
  { from: 'ready', to: 'parked' },
  { from: 'delayed', to: 'parked' },
  { from: 'backoff', to: 'parked' },
  { from: 'parked', to: 'ready', word: 'put back' },
]

/** Where a key in a state stands. */
export function stationOf(state: KeyStateWord | 'absent'): Station {
  return state === 'idle' || state === 'absent' ? 'done' : state
}

export const wayId = (from: Station, to: Station): string => `${from}-${to}`

const known = new Set(ways.map(({ from, to }) => wayId(from, to)))

/** The ways from one station to another. To be taken, or dirty, a key must have been before that. */
function between(from: Station, to: Station): readonly string[] {
  if (to === 'dirty' && from !== 'processing' && from !== 'dirty') {
    return [...between(from, 'processing'), wayId('processing', 'dirty')]
  }
  if (to === 'processing' && from !== 'ready' && from !== 'processing') {
    return [wayId(from, 'ready'), wayId('ready', 'processing')]
  }
  return [wayId(from, to)]
}

/**
 * The ways that a key took, by what is known of its steps, oldest first. What came between two
 * looks is not known, and left out, unless there is one way only. With failures, a key that is first seen
 * backing off, or set aside, came there from a run.
 */
export function waysTaken(
  steps: readonly Pick<KeyStep, 'to'>[],
  failures: number,
): ReadonlySet<string> {
  const taken = new Set<string>()
  const first = steps[0]?.to
  const cameFromRun = failures > 0 && (first === 'backoff' || first === 'parked')
  let from: Station = cameFromRun ? 'processing' : 'add'
  for (const [index, step] of steps.entries()) {
    // Asked for while it was held: that is what made it dirty, and no way of its own.
    if (step.to === 'ready' && steps[index + 1]?.to === 'dirty') continue
    const to = stationOf(step.to)
    for (const way of between(from, to)) if (known.has(way)) taken.add(way)
    // What is done begins anew when it is asked for again.
    from = to === 'done' ? 'add' : to
  }
  return taken
}
