/** A source of randomness: numbers from 0 to below 1, evenly distributed. */
export type Random = () => number

/** The randomness of the runtime, as the default. The only place that uses it. */
export const defaultRandom: Random = () => Math.random()
