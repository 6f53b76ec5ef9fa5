import { never, noToken } from '@sluice/core'
import { ModelStore } from '../../src/model/model-store.ts'
import { type Mutant, mutant, ruleMutant } from './mutant.ts'

/** Counts tokens for each key, and loses the count with the key. */
class TokenPerRow extends ModelStore {
  override nextToken(): number {
    return 1
  }
}

/** The mutants of the model checker: one wrong rule of the state machine each. */
export const theEleven: readonly Mutant[] = [
  ruleMutant('add-ignored-while-held', 'an add of a held key is dropped', (rules) => ({
    ask: (state, request, delayMs, ...rest) =>
      state.token !== noToken && !(delayMs > 0)
        ? 'unchanged'
        : rules.ask(state, request, delayMs, ...rest),
  })),
  ruleMutant('add-ignored-while-delayed', 'an add of a delayed key is dropped', (rules) => ({
    ask: (state, request, delayMs, options, now, seq) =>
      state.dueAt > now && state.dueAt !== never && !(delayMs > 0)
        ? 'unchanged'
        : rules.ask(state, request, delayMs, options, now, seq),
  })),
  ruleMutant('add-after-ignored-while-held', 'a delayed add of a held key is dropped', (rules) => ({
    ask: (state, request, delayMs, ...rest) =>
      state.token !== noToken && delayMs > 0
        ? 'unchanged'
        : rules.ask(state, request, delayMs, ...rest),
  })),
  ruleMutant(
    'done-clears-dirty',
    'done drops a run that was requested in the meantime',
    (rules) => ({
      done(state, token, ...rest) {
        if (state.token === token) rules.cancel(state)
        return rules.done(state, token, ...rest)
      },
    }),
  ),
  ruleMutant('done-without-token', 'done ignores the token', (rules) => ({
    done: (state, _, ...rest) => rules.done(state, state.token, ...rest),
  })),
  mutant('token-resets-with-row', 'tokens start over with every row', () => ({
    store: new TokenPerRow(),
  })),
  ruleMutant(
    'expire-by-key',
    'the end of a lease is written by key, whatever the token',
    (rules) => ({
      expire: (state, _, ...rest) => rules.expire(state, state.token, ...rest),
    }),
  ),
  ruleMutant('claim-ignores-holder', 'a claim takes keys that are held', (rules) => ({
    isClaimable: (state, now) => rules.isClaimable({ ...state, token: noToken }, now),
  })),
  ruleMutant(
    'expire-drops-work',
    'the end of a lease frees the key and drops its run',
    (rules) => ({
      expire(state, token, ...rest) {
        const pending = { dueAt: state.dueAt, laterAt: state.laterAt }
        const outcome = rules.expire(state, token, ...rest)
        if (outcome !== 'lost') Object.assign(state, pending)
        return outcome
      },
    }),
  ),
  ruleMutant(
    'expire-overwrites',
    'the lost run replaces a run that was requested in the meantime',
    (rules) => ({
      expire(state, token, ...rest) {
        if (state.token === token) rules.cancel(state)
        return rules.expire(state, token, ...rest)
      },
    }),
  ),
  ruleMutant('done-skips-dirty', 'done leaves a dirty key held', (rules) => ({
    done: (state, token, forgets, now, seq) =>
      state.dueAt <= now && state.token === token
        ? 'ready'
        : rules.done(state, token, forgets, now, seq),
  })),
]
