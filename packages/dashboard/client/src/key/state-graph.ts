import type { KeyStateWord, KeyStep } from '../../../src/wire.ts'

/** A node of the state graph: a state, or `add` and `done`, where a key begins and ends. */
export type Station = Exclude<KeyStateWord, 'idle'> | 'add' | 'done'

/** A transition between two nodes, with the word for its cause. */
export interface Way {
  readonly from: Station
  readonly to: Station
  readonly word?: string
}

/** Every transition. The graph is a circle: a key that is done may be added again. */
export const ways: readonly Way[] = [
  { from: 'add', to: 'ready', word: 'add' },
  { from: 'add', to: 'delayed', word: 'addAfter' },
  { from: 'add', to: 'backoff' },
  { from: 'delayed', to: 'ready', word: 'due' },
  { from: 'ready', to: 'processing', word: 'claimed' },
  { from: 'processing', to: 'done', word: 'done' },
  { from: 'processing', to: 'dirty', word: 'added again' },
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
  { from: 'parked', to: 'ready', word: 'unparked' },
]

/** The node of a state. */
function stationOf(state: KeyStateWord | 'absent'): Station {
  return state === 'idle' || state === 'absent' ? 'done' : state
}

/**
 * The node where a key is, by its steps, oldest first. A key that is not stored is done only if it ran when it
 * was last seen, or had nothing pending: others were removed, or never added. Those are nowhere.
 */
export function stationNow(
  state: KeyStateWord | 'absent',
  steps: readonly Pick<KeyStep, 'to'>[],
): Station | undefined {
  if (state !== 'absent') return stationOf(state)
  const last = steps.findLast(({ to }) => to !== 'absent')?.to
  return last === 'processing' || last === 'dirty' || last === 'idle' ? 'done' : undefined
}

export const wayId = (from: Station, to: Station): string => `${from}-${to}`

const known = new Set(ways.map(({ from, to }) => wayId(from, to)))

/** The transitions between two nodes, with those that a claimed or a dirty key must have passed. */
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
 * The transitions of a key, from its steps, oldest first. Transitions between two reads are not
 * known and left out, unless only one is possible. A key with failures that is first seen in back-off
 * or parked got there from a run.
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
    // An add while the key was held made it dirty; it is not a transition to ready.
    if (step.to === 'ready' && steps[index + 1]?.to === 'dirty') continue
    const to = stationOf(step.to)
    for (const way of between(from, to)) if (known.has(way)) taken.add(way)
    // A key that is done starts at `add` when it is added again.
    from = to === 'done' ? 'add' : to
  }
  return taken
}
