import fc from 'fast-check'

/** How many tokens in how many seconds. */
export type Speed = 'unlimited' | readonly [tokens: number, seconds: number]

/** Where the clock goes before a step: grains on or back, or to when a reservation falls due. */
type Move = number | { due: number; off: number }

export type Step = { move: Move } & (
  | { do: 'allow' | 'reserve'; n: number }
  | { do: 'cancel' | 'delay'; back: number }
  | { do: 'setLimit'; limit: Speed }
  | { do: 'setBurst'; burst: number }
  | { do: 'tokens' }
)

export interface History {
  start: number
  limit: Speed
  burst: number
  steps: Step[]
}

/** Of which numbers histories are made. */
export interface Kind {
  limit: fc.Arbitrary<Speed>
  burst: fc.Arbitrary<number>
  n: fc.Arbitrary<number>
  grains: fc.Arbitrary<number>
  off: fc.Arbitrary<number>
}

/** Histories of one kind. */
export function histories({ limit, burst, n, grains, off }: Kind): fc.Arbitrary<History> {
  const back = fc.nat({ max: 4 })
  const move: fc.Arbitrary<Move> = fc.oneof(
    { weight: 10, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: grains },
    { weight: 1, arbitrary: grains.map((on) => 0 - on) },
    { weight: 2, arbitrary: fc.record({ due: back, off }) },
  )
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('reserve'), n, move }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('allow'), n, move }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('cancel'), back, move }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delay'), back, move }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('setLimit'), limit, move }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('setBurst'), burst, move }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('tokens'), move }) },
  )
  return fc.record({
    start: fc.constantFrom(1_000_000_000, 1_790_000_000_123),
    limit,
    burst,
    steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
  })
}

/** Never below 0: the model takes that, as Go's bucket does, and the bucket under test refuses it. */
const ofTokens = fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 4 }))
const ofBurst = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 2, arbitrary: fc.constant(100) },
)
const ends: Speed[] = ['unlimited', [0, 1]]

/** Every amount is a whole number, so nothing is rounded and everything has to be equal. */
export const wholeNumbers: Kind = {
  limit: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Speed>([125, 1], [250, 1], [500, 1], [1000, 1]) },
    { weight: 1, arbitrary: fc.constantFrom(...ends) },
  ),
  burst: ofBurst,
  n: ofTokens,
  grains: fc.integer({ min: 0, max: 5 }).map((steps) => steps * 8 * 64),
  off: fc.constant(0),
}

/** Numbers of which most have to be rounded. */
export const anyNumbers: Kind = {
  limit: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Speed>([10, 1], [3, 1], [1, 1], [1, 3], [1, 10]) },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 60 })),
    },
    { weight: 1, arbitrary: fc.constantFrom<Speed>([12_345, 1], [50_000_000, 1]) },
    { weight: 2, arbitrary: fc.constantFrom(...ends) },
  ),
  burst: ofBurst,
  n: ofTokens,
  grains: fc.oneof(
    fc.integer({ min: 0, max: 64 }),
    fc.integer({ min: 0, max: 1000 }).map((ms) => ms * 64),
    fc.integer({ min: 0, max: 128_000 }),
    fc.integer({ min: 0, max: 3600 }).map((seconds) => seconds * 64_000),
  ),
  off: fc.integer({ min: -1, max: 1 }),
}
