/** The lease of every queue of the matrix. */
export const leaseMs = 3_000

/** How long a delay and a back-off last. */
export const waitMs = 6_000

/** How long it is looked after a step. */
export const watchMs = 3 * leaseMs + 1_000

/** What a process of the matrix says. */
export interface Told {
  readonly what: 'start' | 'end' | 'asked' | 'obeyed' | 'held up'
  /** The key, or the order that was obeyed. */
  readonly key: string
  readonly who: string
  /** By the monotonic clock of the machine. */
  readonly at: number
  /** By the wall clock of the process. */
  readonly wall?: number
  /** For how long it was held up. */
  readonly ms?: number
}

/** What a key may be when the clock is stepped. */
export type CellState = 'ready' | 'delayed' | 'backoff' | 'healthy' | 'dead' | 'ahead'

/** What a step did to one key. */
export interface Cell {
  readonly state: CellState
  /** How late it ran; below zero: how early. Infinity: it did not. */
  readonly lateMs: number
  /** How often two processes were at work on a key of this kind at the same time. */
  readonly doubles: number
}

/** How often a key was started while another run of it had not ended. */
function doublesOf(told: readonly Told[], of: string): number {
  const running = new Map<string, number>()
  let doubles = 0
  for (const { what, key } of told) {
    if (!key.startsWith(of) || (what !== 'start' && what !== 'end')) continue
    const count = running.get(key) ?? 0
    if (what === 'start' && count > 0) doubles += 1
    running.set(key, what === 'start' ? count + 1 : count - 1)
  }
  return doubles
}

/** What became of each kind of key, by what all processes told: a step was made at `steppedAt`. */
export function cellsOf(told: readonly Told[], steppedAt: number): Cell[] {
  const all = [...told].sort((a, b) => a.at - b.at)
  // What dies does not end; its key is started again by another.
  const alive = all.filter(({ who }) => !who.startsWith('die'))
  const at = (what: Told['what'], key: string, which = 0): number =>
    alive.filter((each) => each.what === what && each.key === key)[which]?.at ?? Infinity
  const aheadEnds = [1, 2, 3, 4, 5].map((n) => at('end', `ahead/${n}`))
  const goneOn = at('asked', 'ready')
  return [
    { state: 'ready', lateMs: Math.max(at('start', 'ready/1'), at('start', 'ready/2')) - goneOn },
    { state: 'delayed', lateMs: at('start', 'delayed') - at('asked', 'delayed') - waitMs },
    // The first run fails at once.
    { state: 'backoff', lateMs: at('start', 'backoff', 1) - at('start', 'backoff') - waitMs },
    // It is held from before the step on.
    { state: 'healthy', lateMs: at('start', 'alive') < Infinity ? 0 : Infinity },
    { state: 'dead', lateMs: at('start', 'dead') - steppedAt - leaseMs },
    { state: 'ahead', lateMs: Math.max(...aheadEnds) - goneOn },
  ].map(({ state, lateMs }) => {
    const of = state === 'healthy' ? 'alive' : state
    const seen = state === 'dead' || state === 'backoff' ? [] : alive
    // NaN: what comes before it was not seen either.
    const seenLateMs = Number.isNaN(lateMs) ? Infinity : lateMs
    return { state: state as CellState, lateMs: seenLateMs, doubles: doublesOf(seen, of) }
  })
}
