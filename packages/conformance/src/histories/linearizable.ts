/** One call of a history: asked at `start`, answered at `end`; `Infinity` if it never was. */
export interface Call {
  readonly start: number
  readonly end: number
}

/** A sequential specification: the state after each of several calls, one after another. */
export interface Sequential<State, C extends Call> {
  readonly initial: State
  /** The state after `call`, or `undefined` if the call cannot have had its answer here. */
  apply(state: State, call: C): State | undefined
  /** States that behave alike have the same name. */
  nameOf(state: State): string
}

/** Why a history is not linearizable. */
export interface Contradiction<State, C extends Call> {
  /** The longest order of calls that makes sense. */
  readonly order: readonly C[]
  /** The state that it leads to. */
  readonly state: State
  /** The calls of which one had to come next, and none could. */
  readonly stuck: readonly C[]
}

interface Frame<State> {
  readonly state: State
  /** Which call was put last; -1 at the beginning. */
  readonly chosen: number
  /** Which call to try next. */
  next: number
}

/** The most states looked at before the search gives up. */
const statesMax = 2_000_000

/**
 * Searches for an order of all calls in which each takes effect at one moment between its start and
 * its end and has the answer it had (Wing and Gong's search, with Lowe's memory of dead ends).
 *
 * Calls that were never answered may be left out. Returns `undefined` if there is such an order.
 */
export function contradiction<State, C extends Call>(
  calls: readonly C[],
  thing: Sequential<State, C>,
): Contradiction<State, C> | undefined {
  const sorted = [...calls].sort((a, b) => a.start - b.start)
  const isPlaced = new Uint8Array(sorted.length)
  const deadEnds = new Set<string>()
  const stack: Frame<State>[] = [{ state: thing.initial, chosen: -1, next: 0 }]
  let answered = sorted.filter(({ end }) => end !== Infinity).length
  let longest: Frame<State>[] = []
  while (stack.length > 0) {
    if (answered === 0) return undefined
    if (deadEnds.size > statesMax) throw new Error(`more than ${statesMax} states, gave up`)
    const frame = stack.at(-1) as Frame<State>
    const found = nextFrame(sorted, isPlaced, frame, thing)
    if (found === undefined) {
      if (stack.length > longest.length) longest = [...stack]
      stack.pop()
      if (frame.chosen >= 0) {
        isPlaced[frame.chosen] = 0
        if (sorted[frame.chosen]?.end !== Infinity) answered += 1
      }
      continue
    }
    isPlaced[found.chosen] = 1
    const name = `${placedName(isPlaced)} ${thing.nameOf(found.state)}`
    if (deadEnds.has(name)) {
      isPlaced[found.chosen] = 0
      continue
    }
    deadEnds.add(name)
    if (sorted[found.chosen]?.end !== Infinity) answered -= 1
    stack.push(found)
  }
  return explained(sorted, longest)
}

/** The next call that can come now: none that was not placed has ended before it began. */
function nextFrame<State, C extends Call>(
  sorted: readonly C[],
  isPlaced: Uint8Array,
  frame: Frame<State>,
  thing: Sequential<State, C>,
): Frame<State> | undefined {
  let firstEnd = Infinity
  for (const [index, call] of sorted.entries()) {
    if (isPlaced[index] === 0 && call.end < firstEnd) firstEnd = call.end
  }
  for (; frame.next < sorted.length; frame.next += 1) {
    const call = sorted[frame.next] as C
    if (call.start > firstEnd) return undefined
    if (isPlaced[frame.next] === 1) continue
    const state = thing.apply(frame.state, call)
    if (state === undefined) continue
    const chosen = frame.next
    frame.next += 1
    return { state, chosen, next: 0 }
  }
  return undefined
}

function placedName(isPlaced: Uint8Array): string {
  let name = ''
  for (let i = 0; i < isPlaced.length; i += 16) {
    let bits = 0
    for (let j = 0; j < 16; j += 1) bits = bits * 2 + (isPlaced[i + j] ?? 0)
    name += String.fromCharCode(bits)
  }
  return name
}

function explained<State, C extends Call>(
  sorted: readonly C[],
  frames: readonly Frame<State>[],
): Contradiction<State, C> {
  const placed = frames.filter(({ chosen }) => chosen >= 0).map(({ chosen }) => chosen)
  const rest = sorted.filter((_, index) => !placed.includes(index))
  const firstEnd = Math.min(Infinity, ...rest.map(({ end }) => end))
  return {
    order: placed.map((index) => sorted[index] as C),
    state: (frames.at(-1) as Frame<State>).state,
    stuck: rest.filter(({ start }) => start <= firstEnd),
  }
}
