import { never, noToken } from '@sluice/core'
import { type Mutant, ruleMutant, verbMutant } from '../mutant.ts'

/** Adding and delaying, with one wrong rule each. */
export const addingMutants: readonly Mutant[] = [
  ruleMutant('add-waiting-twice', 'an add of a waiting key returns added', (rules) => ({
    ask(...args) {
      const outcome = rules.ask(...args)
      return outcome === 'unchanged' ? 'added' : outcome
    },
  })),
  ruleMutant(
    'add-to-two-is-added',
    'an add of a key that has two runs to come returns added',
    (rules) => ({
      ask(state, request, delayMs, options, now, seq) {
        const hadTwo = state.dueAt > now && state.laterAt !== never
        const outcome = rules.ask(state, request, delayMs, options, now, seq)
        return hadTwo && outcome === 'moved' ? 'added' : outcome
      },
    }),
  ),
  verbMutant('add-whole-due-at', 'an add reports a whole number of milliseconds', (driver) => ({
    add: (queue, asks, options) =>
      driver
        .add(queue, asks, options)
        .map((reply) => ({ ...reply, dueAt: Math.trunc(reply.dueAt) })),
  })),
  ruleMutant('add-renews-asked-at', 'an add of a waiting key resets its age', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      const outcome = rules.ask(state, request, delayMs, options, now, seq)
      state.askedAt = now
      return outcome
    },
  })),
  ruleMutant(
    'add-moves-to-tail',
    'a waiting key that is added again loses its position',
    (rules) => ({
      ask(state, request, delayMs, options, now, seq) {
        const outcome = rules.ask(state, request, delayMs, options, now, seq)
        if (state.token === noToken && state.dueAt <= now)
          Object.assign(state, { readyAt: now, seq })
        return outcome
      },
    }),
  ),
  ruleMutant(
    'dirty-asked-at-old',
    'the next run keeps the request time of the held one',
    (rules) => ({
      done(state, ...rest) {
        state.askedAt = state.claimedAskedAt
        return rules.done(state, ...rest)
      },
    }),
  ),
  ruleMutant('delay-early', 'a key is due up to half a millisecond early', (rules) => ({
    isClaimable: (state, now) => rules.isClaimable(state, now + 0.5),
    stateWord: (state, now) => rules.stateWord(state, now + 0.5),
  })),
  ruleMutant('delay-exclusive', 'a key that is due at this instant is not due yet', (rules) => ({
    isClaimable: (state, now) =>
      rules.isClaimable(state, now) && (state.dueAt < now || state.why === 'add'),
  })),
  ruleMutant('delay-whole', 'delays are whole milliseconds', (rules) => ({
    ask: (state, request, delayMs, ...rest) =>
      rules.ask(state, request, Math.trunc(delayMs), ...rest),
  })),
  ruleMutant('delay-32-bit', 'delays are 32-bit integers', (rules) => ({
    ask: (state, request, delayMs, ...rest) =>
      rules.ask(state, request, delayMs > 2 ** 31 - 1 ? 1 : delayMs, ...rest),
  })),
  ruleMutant('delay-negative', 'a negative delay makes a key older than it is', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      const isNew = state.dueAt === never
      const outcome = rules.ask(state, request, delayMs, options, now, seq)
      if (isNew && delayMs < 0) state.dueAt = now + delayMs
      return outcome
    },
  })),
  ruleMutant('delay-last-wins', 'the last delay counts, not the earliest', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      const isDelayed = state.dueAt > now && state.dueAt !== never && delayMs > 0
      if (isDelayed && request.maxWaitMs === undefined) rules.cancel(state)
      return rules.ask(state, request, delayMs, options, now, seq)
    },
  })),
  ruleMutant('delay-first-wins', 'the first delay counts, not the earliest', (rules) => ({
    ask: (state, request, delayMs, options, now, seq) =>
      state.dueAt > now && state.dueAt !== never && delayMs > 0 && request.maxWaitMs === undefined
        ? 'unchanged'
        : rules.ask(state, request, delayMs, options, now, seq),
  })),
  ruleMutant('always-client-go', "the mode 'earliest' is ignored", (rules) => ({
    ask: (state, request, delayMs, options, ...rest) =>
      rules.ask(state, request, delayMs, { ...options, dedupe: 'client-go' }, ...rest),
  })),
  ruleMutant('always-earliest', "the mode 'client-go' is ignored", (rules) => ({
    ask: (state, request, delayMs, options, ...rest) =>
      rules.ask(state, request, delayMs, { ...options, dedupe: 'earliest' }, ...rest),
  })),
  ruleMutant('no-collapse', 'two pending runs that are both due are not merged', (rules) => ({
    claim(state, token, leaseUntil, now, seq) {
      const later = state.laterAt
      rules.claim(state, token, leaseUntil, now, seq)
      if (later <= now) state.dueAt = later
    },
  })),
  ruleMutant('collapse-blocks', 'a second run that fell due is not merged', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      const isStale = state.laterAt <= now && state.dueAt <= now
      return isStale ? 'unchanged' : rules.ask(state, request, delayMs, options, now, seq)
    },
  })),
  ruleMutant('second-run-fixed', 'a second run is never moved', (rules) => ({
    ask: (state, request, delayMs, options, now, seq) =>
      state.laterAt > now && state.laterAt !== never && delayMs > 0
        ? 'unchanged'
        : rules.ask(state, request, delayMs, options, now, seq),
  })),
  ruleMutant('second-run-last', 'a second run is moved later', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      if (state.laterAt !== never && delayMs > 0) state.laterAt = never
      return rules.ask(state, request, delayMs, options, now, seq)
    },
  })),
  ruleMutant('latest-ignored', 'maxWaitMs is ignored', (rules) => ({
    ask: (state, request, ...rest) =>
      rules.ask(state, { ...request, maxWaitMs: undefined }, ...rest),
  })),
  ruleMutant('latest-unbounded', 'a key can be postponed without end', (rules) => ({
    ask: (state, request, ...rest) =>
      rules.ask(
        state,
        { ...request, maxWaitMs: request.maxWaitMs === undefined ? undefined : Infinity },
        ...rest,
      ),
  })),
  ruleMutant('latest-everything', 'a key that is ready or in back-off is postponed', (rules) => ({
    ask(state, request, delayMs, ...rest) {
      if (request.maxWaitMs !== undefined) rules.cancel(state)
      return rules.ask(state, request, delayMs, ...rest)
    },
  })),
  ruleMutant('latest-by-old-reason', 'a held key whose run was delayed seems delayed', (rules) => ({
    ask(state, request, ...rest) {
      const seemsDelayed = request.maxWaitMs !== undefined && state.why === 'delay'
      const isHeldOnly = state.token !== noToken && state.dueAt === never
      return seemsDelayed && isHeldOnly ? 'unchanged' : rules.ask(state, request, ...rest)
    },
  })),
]
