import { SluiceTypeError } from '@sluice/core'

/** The upper bounds of a histogram: a preset by name, or seconds in rising order. */
export type Buckets = 'tidy' | 'controller-runtime' | 'kubernetes' | readonly number[]

/** Bounds that grow tenfold from 10 ns, multiplied step by step, as in the originals. */
function tenfold(count: number): number[] {
  const bounds: number[] = []
  for (let bound = 10e-9; bounds.length < count; bound *= 10) bounds.push(bound)
  return bounds
}

const presets: Readonly<Record<string, readonly number[]>> = {
  // From the latency of a queue in memory to a quarter of an hour, with the round numbers of
  // alerts.
  tidy: [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
    1000,
  ],
  'controller-runtime': tenfold(12),
  kubernetes: tenfold(10),
}

/** The bounds of controller-runtime for the time of a reconciliation. */
export const reconcileBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
  1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** The bounds that the option `buckets` names. Throws for values that are neither a preset nor rising numbers. */
export function boundsOf(buckets: Buckets): readonly number[] {
  if (typeof buckets === 'string') {
    // `constructor` is a member of every object, and no preset.
    const preset = Object.hasOwn(presets, buckets) ? presets[buckets] : undefined
    if (preset !== undefined) return preset
  } else if (
    Array.isArray(buckets) &&
    buckets.length > 0 &&
    buckets.every((bound, at) => Number.isFinite(bound) && bound > (buckets[at - 1] ?? 0))
  ) {
    return [...buckets]
  }
  const names = Object.keys(presets).map((name) => `'${name}'`)
  throw new SluiceTypeError(
    'buckets',
    `must be ${names.join(', ')}, or a list of rising numbers of seconds above 0`,
  )
}
