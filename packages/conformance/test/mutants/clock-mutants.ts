import { never, noToken } from '@sluice/core'
import { ModelStore } from '../../src/model/model-store.ts'
import { type Mutant, mutant, ruleMutant } from './mutant.ts'

/** Makes tokens of the time, which is what makes them fall when the clock goes back. */
class TokensOfTime extends ModelStore {
  now: () => number = () => 0

  override nextToken(): number {
    return Math.floor(this.now()) * 1_000 + super.nextToken()
  }
}

/** Clocks that are set, one thing wrong in each. */
export const clockMutants: readonly Mutant[] = [
  mutant('clock-tokens-of-time', 'tokens are made of the time', () => {
    const store = new TokensOfTime()
    return {
      store,
      alter: (driver) => ({
        open(options) {
          store.now = () => options.clock?.now() ?? 0
          driver.open(options)
        },
      }),
    }
  }),
  ruleMutant(
    'clock-back-blocks',
    'what was ready before the clock went back cannot be moved',
    (rules) => ({
      ask(state, request, delayMs, options, now, seq) {
        const wasReady = state.why === 'add' && state.dueAt > now && state.dueAt !== never
        return wasReady ? 'unchanged' : rules.ask(state, request, delayMs, options, now, seq)
      },
    }),
  ),
  ruleMutant('clock-back-drops', 'what is owed too far from now is taken for damage', (rules) => ({
    isClaimable(state, now) {
      if (state.why === 'add' && state.dueAt > now + 1_000) state.dueAt = never
      return rules.isClaimable(state, now)
    },
  })),
  ruleMutant(
    'clock-back-frees',
    'a lease that ends too far from now is taken for damage',
    (rules) => ({
      isOver: (state, now) =>
        rules.isOver(state, now) ||
        (state.token !== noToken &&
          state.leaseUntil !== never &&
          state.leaseUntil > now + 3_599_000),
    }),
  ),
  ruleMutant('clock-back-fills', 'time that went back fills a bucket', (rules) => ({
    planned(store, plan, failures, jitter, now) {
      for (const [name, row] of store.buckets) {
        if (row.at > now) store.buckets.set(name, { ...row, tokens: row.burst, at: now })
      }
      return rules.planned(store, plan, failures, jitter, now)
    },
  })),
  ruleMutant(
    'clock-forward-holds',
    'a lease lasts longer when the clock was put forward',
    (rules) => ({
      isOver: (state, now) => rules.isOver(state, now) && now - state.leaseUntil < 3_000_000,
    }),
  ),
]
