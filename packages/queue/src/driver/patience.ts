import { random } from '../environment/random.ts'

/** How long the first and the longest wait between two tries last. */
export interface Patience {
  readonly first: number
  readonly longest: number
}

/** The wait before the next of several tries: doubling, bounded, and never the same for two. */
export function jitteredMs(tries: number, { first, longest }: Patience): number {
  const bound = Math.min(longest, first * 2 ** Math.min(tries - 1, 30))
  return bound * (0.5 + random() / 2)
}
