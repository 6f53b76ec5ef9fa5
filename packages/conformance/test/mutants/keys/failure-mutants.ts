import { never, noToken } from '@sluice/core'
import { type Mutant, ruleMutant } from '../mutant.ts'

/** Failures and crashes, with one wrong rule each. */
export const failureMutants: readonly Mutant[] = [
  ruleMutant(
    'failed-unchanged-free',
    'a failure is not counted where nothing changes',
    (rules) => ({
      ask(state, request, ...rest) {
        const { failures } = state
        const outcome = rules.ask(state, request, ...rest)
        if (outcome === 'unchanged') state.failures = failures
        return outcome
      },
    }),
  ),
  ruleMutant('adds-inflate-backoff', 'every delayed add counts a failure', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      if (delayMs > 0 && state.why === 'backoff' && state.dueAt > now)
        rules.countFailure(state, now)
      return rules.ask(state, request, delayMs, options, now, seq)
    },
  })),
  ruleMutant('failed-known-is-delay', 'a failed add of a known key is a plain delay', (rules) => ({
    ask(state, request, ...rest) {
      const isKnown = !rules.isGone(state)
      const outcome = rules.ask(state, request, ...rest)
      if (isKnown && request.failed === true && state.why === 'backoff') state.why = 'delay'
      return outcome
    },
  })),
  ruleMutant('forget-lets-go', 'forget releases a held key', (rules) => ({
    forget(state) {
      const outcome = rules.forget(state)
      state.token = noToken
      return outcome
    },
  })),
  ruleMutant('forget-cancels', 'forget removes the pending run', (rules) => ({
    forget(state) {
      rules.cancel(state)
      return rules.forget(state)
    },
  })),
  ruleMutant('forget-keeps-crashes', 'forget resets failures only', (rules) => ({
    forget(state) {
      const { crashes } = state
      const outcome = rules.forget(state)
      state.crashes = crashes
      return outcome
    },
    done(state, token, forgets, ...rest) {
      const { crashes } = state
      const outcome = rules.done(state, token, forgets, ...rest)
      state.crashes = crashes
      return outcome
    },
  })),
  ruleMutant('failures-never-expire', 'failures never expire', (rules) => ({
    ask: (state, request, delayMs, options, ...rest) =>
      rules.ask(state, request, delayMs, { ...options, failuresExpireMs: Infinity }, ...rest),
    countedFailures: (state) => state.failures,
    hasStaleFailures: () => false,
  })),
  ruleMutant('failures-expire-always', 'failures of keys in use expire', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      if (state.failedAt + options.failuresExpireMs <= now) rules.forget(state)
      return rules.ask(state, request, delayMs, options, now, seq)
    },
  })),
  ruleMutant('failures-expire-held', 'failures of held keys expire', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      const isOld = state.failedAt + options.failuresExpireMs <= now
      if (isOld && state.token !== noToken) rules.forget(state)
      return rules.ask(state, request, delayMs, options, now, seq)
    },
  })),
  ruleMutant('failures-renewed', 'an add renews the failures that it finds', (rules) => ({
    ask(state, request, delayMs, options, now, seq) {
      const outcome = rules.ask(state, request, delayMs, options, now, seq)
      if (state.failures > 0) state.failedAt = now
      return outcome
    },
  })),
  ruleMutant(
    'failures-expire-after-first',
    'failures expire a fixed time after the first',
    (rules) => ({
      retry(state, token, ...rest) {
        const { failedAt } = state
        const outcome = rules.retry(state, token, ...rest)
        if (failedAt !== never && outcome !== 'lost') state.failedAt = failedAt
        return outcome
      },
    }),
  ),
  ruleMutant('sweeps-parked', 'parked keys are swept like idle ones', (rules) => ({
    hasStaleFailures: (state, now, expireMs) =>
      state.token === noToken &&
      (rules.hasStaleFailures(state, now, expireMs) || (state.parked && state.failures > 0)),
  })),
  ruleMutant('sweeps-all-idle', 'idle keys are swept before their failures expire', (rules) => ({
    hasStaleFailures: (state, now) => rules.hasStaleFailures(state, now, 0),
  })),
  ruleMutant('crash-with-others', 'keys with crashes are handed out together with others', () => ({
    isAlone: () => false,
  })),
  ruleMutant('first-crash-alone', 'keys are handed out alone after their first crash', () => ({
    isAlone: ({ crashes }) => crashes > 0,
  })),
  ruleMutant('failures-alone', 'keys with failures are handed out alone', () => ({
    isAlone: ({ failures }) => failures > 0,
  })),
  ruleMutant('crashes-park-late', 'a key is parked one crash too late', (rules) => ({
    expire: (state, token, delayMs, maxCrashes, ...rest) =>
      rules.expire(state, token, delayMs, maxCrashes + 1, ...rest),
  })),
  ruleMutant('failures-park', 'failures count towards maxCrashes', (rules) => ({
    expire(state, ...rest) {
      const { crashes } = state
      state.crashes = state.failures
      const outcome = rules.expire(state, ...rest)
      state.crashes = crashes + 1
      return outcome
    },
  })),
  ruleMutant('done-keeps-crashes', 'a run that is done keeps its crashes', (rules) => ({
    done(state, token, forgets, ...rest) {
      const { crashes } = state
      const outcome = rules.done(state, token, forgets, ...rest)
      if (!forgets) state.crashes = crashes
      return outcome
    },
  })),
  ruleMutant('retry-keeps-crashes', 'a run that failed keeps its crashes', (rules) => ({
    retry(state, ...rest) {
      const { crashes } = state
      const outcome = rules.retry(state, ...rest)
      state.crashes = crashes
      return outcome
    },
  })),
  ruleMutant('release-ends-crashes', 'a release resets crashes', (rules) => ({
    release(state, ...rest) {
      const outcome = rules.release(state, ...rest)
      if (outcome !== 'lost') state.crashes = 0
      return outcome
    },
  })),
]
