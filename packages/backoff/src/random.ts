/** A source of chance: numbers from 0 to below 1, evenly spread. */
export type Random = () => number

/** The chance of the runtime, for callers who bring none. The one place that takes it. */
export const defaultRandom: Random = () => Math.random()
