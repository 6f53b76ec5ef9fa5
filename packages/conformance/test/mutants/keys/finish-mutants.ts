import { never } from '@sluice/core'
import { type Mutant, ruleMutant } from '../mutant.ts'

/** Finishing, with one wrong rule each. */
export const finishMutants: readonly Mutant[] = [
  ruleMutant('done-forgets', 'done resets failures without forget', (rules) => ({
    done: (state, token, _, ...rest) => rules.done(state, token, true, ...rest),
  })),
  ruleMutant('done-forgets-nothing', 'done with forget resets nothing', (rules) => ({
    done: (state, token, _, ...rest) => rules.done(state, token, false, ...rest),
  })),
  ruleMutant(
    'dirty-keeps-old-position',
    'a key that is done is ordered by the time of its add',
    (rules) => ({
      done(state, ...rest) {
        const { readyAt, seq } = state
        const outcome = rules.done(state, ...rest)
        if (outcome === 'ready') Object.assign(state, { readyAt, seq })
        return outcome
      },
    }),
  ),
  ruleMutant('again-is-done', 'a key that is done and to be added again is not added', (rules) => ({
    doneAgain: (state, token, forgets, _again, _dedupe, now, seq) =>
      rules.done(state, token, forgets, now, seq),
  })),
  ruleMutant('again-at-once', 'a key that is done and added again has no delay', (rules) => ({
    doneAgain: (state, token, forgets, { priority }, ...rest) =>
      rules.doneAgain(state, token, forgets, { delayMs: 0, priority }, ...rest),
  })),
  ruleMutant(
    'again-postpones',
    'a key that is done and added again loses the run that was added meanwhile',
    (rules) => ({
      doneAgain(state, token, ...rest) {
        if (state.token === token) rules.cancel(state)
        return rules.doneAgain(state, token, ...rest)
      },
    }),
  ),
  ruleMutant(
    'again-moves-due',
    'a run that is due already is moved when it is added again',
    (rules) => ({
      doneAgain(state, token, forgets, again, dedupe, now, seq) {
        const wasDue = state.token === token && state.dueAt <= now
        const outcome = rules.doneAgain(state, token, forgets, again, dedupe, now, seq)
        if (wasDue) state.dueAt = now + 1
        return outcome
      },
    }),
  ),
  ruleMutant('again-same-priority', 'a key that is added again keeps its priority', (rules) => ({
    doneAgain: (state, token, forgets, { delayMs }, ...rest) =>
      rules.doneAgain(state, token, forgets, { delayMs, priority: state.claimedPriority }, ...rest),
  })),
  ruleMutant('again-counts', 'a key that is done and added again has failed', (rules) => ({
    doneAgain(state, token, ...rest) {
      const outcome = rules.doneAgain(state, token, ...rest)
      if (outcome !== 'lost') rules.countFailure(state, rest[3])
      return outcome
    },
  })),
  ruleMutant('again-forgets', 'a key that is added again loses its failures', (rules) => ({
    doneAgain: (state, token, _, ...rest) => rules.doneAgain(state, token, true, ...rest),
  })),
  ruleMutant('again-without-token', 'a stale token adds a key again', (rules) => ({
    doneAgain: (state, token, ...rest) => rules.doneAgain(state, state.token || token, ...rest),
  })),
  ruleMutant('retry-same-priority', 'a retry ignores the priority that it is given', (rules) => ({
    retry: (state, token, delayMs, dedupe, now, seq) =>
      rules.retry(state, token, delayMs, dedupe, now, seq),
  })),
  ruleMutant('release-to-tail', 'a released key goes to the tail', (rules) => ({
    release(state, token, dedupe, now, seq) {
      const outcome = rules.release(state, token, dedupe, now, seq)
      if (outcome !== 'lost') Object.assign(state, { readyAt: now, seq })
      return outcome
    },
  })),
  ruleMutant('release-counts', 'a release counts a failure', (rules) => ({
    release(state, token, dedupe, now, seq) {
      if (state.token === token) rules.countFailure(state, now)
      return rules.release(state, token, dedupe, now, seq)
    },
  })),
  ruleMutant(
    'release-twice',
    'a released key that was added in the meantime runs twice',
    (rules) => ({
      release(state, token, dedupe, now, seq) {
        const wasDirty = state.dueAt <= now
        const outcome = rules.release(state, token, dedupe, now, seq)
        if (outcome !== 'lost' && wasDirty) state.laterAt = now + 1
        return outcome
      },
    }),
  ),
  ruleMutant('release-drops-second-run', 'a release drops the second run', (rules) => ({
    release(state, ...rest) {
      const outcome = rules.release(state, ...rest)
      if (outcome !== 'lost') state.laterAt = never
      return outcome
    },
  })),
  ruleMutant(
    'release-restores-second-run',
    'a release restores a cancelled second run',
    (rules) => ({
      release(state, token, dedupe, ...rest) {
        const outcome = rules.release(state, token, dedupe, ...rest)
        if (outcome !== 'lost' && dedupe === 'earliest') state.laterAt = state.claimedLaterAt
        return outcome
      },
    }),
  ),
  ruleMutant('release-without-token', 'release ignores the token', (rules) => ({
    release: (state, token, ...rest) => rules.release(state, state.token || token, ...rest),
  })),
  ruleMutant('retry-without-token', 'retry ignores the token', (rules) => ({
    retry: (state, token, ...rest) => rules.retry(state, state.token || token, ...rest),
  })),
  ruleMutant('park-without-token', 'park ignores the token', (rules) => ({
    parkHeld: (state, token, ...rest) => rules.parkHeld(state, state.token || token, ...rest),
  })),
  ruleMutant('renew-without-token', 'renew ignores the token', (rules) => ({
    renew: (state, _, leaseUntil) => rules.renew(state, state.token, leaseUntil),
  })),
  ruleMutant('retry-counts-twice', 'a retry counts two failures', (rules) => ({
    retry(state, token, delayMs, dedupe, now, ...rest) {
      if (state.token === token) rules.countFailure(state, now)
      return rules.retry(state, token, delayMs, dedupe, now, ...rest)
    },
  })),
  ruleMutant(
    'retry-postpones',
    'a retry postpones a run that was requested in the meantime',
    (rules) => ({
      retry(state, token, ...rest) {
        if (state.token === token) rules.cancel(state)
        return rules.retry(state, token, ...rest)
      },
    }),
  ),
  ruleMutant('retry-is-a-delay', 'a key in back-off looks like a delayed one', (rules) => ({
    stateWord(state, now) {
      const word = rules.stateWord(state, now)
      return word === 'backoff' ? 'delayed' : word
    },
  })),
  ruleMutant('dirty-not-seen', 'a dirty key looks like any held one', (rules) => ({
    stateWord(state, now) {
      const word = rules.stateWord(state, now)
      return word === 'dirty' ? 'processing' : word
    },
  })),
  ruleMutant('cancel-always-says-so', 'cancel always returns cancelled', (rules) => ({
    cancel(state) {
      rules.cancel(state)
      return 'cancelled'
    },
  })),
  ruleMutant('cancel-does-nothing', 'cancel does nothing and returns unchanged', () => ({
    cancel: () => 'unchanged',
  })),
  ruleMutant('forget-always-says-so', 'forget always returns forgotten', (rules) => ({
    forget(state) {
      rules.forget(state)
      return 'forgotten'
    },
  })),
  ruleMutant('retry-at-once', 'a retry ignores its delay', (rules) => ({
    retry: (state, token, _, ...rest) => rules.retry(state, token, 0, ...rest),
  })),
  ruleMutant('retry-not-at-once', 'a retry takes at least a millisecond', (rules) => ({
    retry: (state, token, delayMs, ...rest) =>
      rules.retry(state, token, Math.max(1, delayMs), ...rest),
  })),
  ruleMutant('retry-first-wins', 'a retry does not bring a delayed run forward', (rules) => ({
    retry: (state, token, delayMs, dedupe, now, seq) =>
      rules.retry(
        state,
        token,
        state.dueAt > now && state.dueAt !== never ? Math.max(delayMs, state.dueAt - now) : delayMs,
        dedupe,
        now,
        seq,
      ),
  })),
  ruleMutant('retry-drops-second-run', 'a retry drops the second run', (rules) => ({
    retry(state, token, ...rest) {
      if (state.token === token) state.laterAt = never
      return rules.retry(state, token, ...rest)
    },
  })),
  ruleMutant(
    'release-is-done',
    'a release drops the run, unless the key was added again',
    (rules) => ({
      release: (state, token, dedupe, now, seq) =>
        state.dueAt === never
          ? rules.done(state, token, false, now, seq)
          : rules.release(state, token, dedupe, now, seq),
    }),
  ),
  ruleMutant(
    'done-says-delayed',
    'done of a key without a pending run returns delayed',
    (rules) => ({
      done(...args) {
        const outcome = rules.done(...args)
        return outcome === 'idle' ? 'delayed' : outcome
      },
    }),
  ),
  ruleMutant('claim-takes-delayed', 'delayed keys are claimed before they are due', (rules) => ({
    isClaimable: (state, now) =>
      rules.isClaimable(state, now) ||
      (state.why === 'delay' && state.dueAt !== never && rules.isClaimable(state, state.dueAt)),
  })),
  ruleMutant('new-is-moved', 'an add of a new key returns moved', (rules) => ({
    ask(state, ...rest) {
      const isNew = rules.isGone(state)
      const outcome = rules.ask(state, ...rest)
      return isNew && outcome === 'added' ? 'moved' : outcome
    },
  })),
]
