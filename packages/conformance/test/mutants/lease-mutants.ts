import { never, noToken } from '@sluice/core'
import { type Mutant, ruleMutant, verbMutant } from './mutant.ts'

/** Leases, with one wrong rule each. */
export const leaseMutants: readonly Mutant[] = [
  ruleMutant('lease-exclusive', 'a lease expires only after its end', (rules) => ({
    isOver: (state, now) => rules.isOver(state, now) && state.leaseUntil < now,
  })),
  ruleMutant('lease-early', 'a lease expires a little early', (rules) => ({
    isOver: (state, now) => rules.isOver(state, now + 1),
  })),
  ruleMutant('lease-never-expired', 'expired leases are not reported', () => ({
    isOver: () => false,
  })),
  ruleMutant('claim-takes-expired', 'a claim takes keys whose lease has expired', (rules) => ({
    isClaimable: (state, now) =>
      rules.isClaimable(state, now) ||
      (rules.isOver(state, now) &&
        rules.isClaimable({ ...state, token: noToken, dueAt: now }, now)),
  })),
  ruleMutant('lease-end-delay', 'a lost run that comes second is only delayed', (rules) => ({
    expire(state, ...rest) {
      const outcome = rules.expire(state, ...rest)
      state.laterWhy = 'delay'
      return outcome
    },
  })),
  ruleMutant('lease-end-early', 'a lease can be ended before it expires', (rules) => ({
    expire: (state, token, delayMs, maxCrashes, dedupe, now, seq) =>
      rules.expire(state, token, delayMs, maxCrashes, dedupe, Math.max(now, state.leaseUntil), seq),
  })),
  ruleMutant(
    'done-after-lease-lost',
    'a token is rejected once its lease has expired',
    (rules) => ({
      done: (state, token, forgets, now, seq) =>
        state.leaseUntil <= now ? 'lost' : rules.done(state, token, forgets, now, seq),
    }),
  ),
  ruleMutant('renew-shortens', 'a renewal sets the lease, also to less', (rules) => ({
    renew(state, token, leaseUntil) {
      const outcome = rules.renew(state, token, leaseUntil)
      if (outcome === 'renewed') state.leaseUntil = leaseUntil
      return outcome
    },
  })),
  ruleMutant('renew-does-nothing', 'a renewal is answered and not written', (rules) => ({
    renew: (state, token) => rules.renew(state, token, 0),
  })),
  verbMutant('renew-not-kept', 'the renewed end of a lease is not stored', (driver, store) => ({
    renew(queue, leases, leaseMs) {
      const states = leases.map(({ key }) => store.key(queue, key).state)
      const before = states.map(({ leaseUntil }) => leaseUntil)
      const replies = driver.renew(queue, leases, leaseMs)
      states.forEach((state, at) => {
        state.leaseUntil = before[at] ?? 0
      })
      return replies
    },
  })),
  ruleMutant('renew-for-ever', 'a lease that was renewed does not expire', (rules) => {
    const renewed = new WeakSet<object>()
    return {
      renew(state, ...rest) {
        renewed.add(state)
        return rules.renew(state, ...rest)
      },
      isOver: (state, now) => !renewed.has(state) && rules.isOver(state, now),
    }
  }),
  ruleMutant(
    'renew-cancels',
    'a renewal removes a run that was requested in the meantime',
    (rules) => ({
      renew(state, token, leaseUntil) {
        if (state.token === token) rules.cancel(state)
        return rules.renew(state, token, leaseUntil)
      },
    }),
  ),
  ruleMutant('lease-from-asking', 'a lease counts from the request of the run', (rules) => ({
    claim(state, token, leaseUntil, now, seq) {
      rules.claim(state, token, leaseUntil - (now - state.askedAt), now, seq)
    },
  })),
  ruleMutant('lease-end-from-now', 'the lost run is due when the end is noticed', (rules) => ({
    expire(state, token, delayMs, maxCrashes, dedupe, now, seq) {
      if (state.leaseUntil <= now && state.token === token) state.leaseUntil = now
      return rules.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
    },
  })),
  ruleMutant('lease-end-is-no-failure', 'the end of a lease counts no failure', (rules) => ({
    expire(state, ...rest) {
      const { failures } = state
      const outcome = rules.expire(state, ...rest)
      state.failures = failures
      return outcome
    },
  })),
  ruleMutant('lease-end-is-no-crash', 'the end of a lease counts no crash', (rules) => ({
    expire(state, ...rest) {
      const { crashes } = state
      const outcome = rules.expire(state, ...rest)
      state.crashes = crashes
      return outcome
    },
  })),
  ruleMutant('lease-end-clobbers-later', 'the end of a lease drops a later run', (rules) => ({
    expire(state, token, delayMs, maxCrashes, _, now, seq) {
      const outcome = rules.expire(state, token, delayMs, maxCrashes, 'earliest', now, seq)
      if (outcome !== 'lost') state.laterAt = never
      return outcome
    },
  })),
  ruleMutant('lease-end-moves-later', 'the end of a lease moves a later run', (rules) => ({
    expire(state, token, delayMs, maxCrashes, dedupe, now, seq) {
      const lostAt = state.leaseUntil + delayMs
      const isMoved = state.dueAt > now && state.laterAt < lostAt
      const outcome = rules.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
      if (outcome !== 'lost' && isMoved) state.laterAt = lostAt
      return outcome
    },
  })),
  ruleMutant('lease-end-two-runs', 'the end of a lease always adds a separate run', (rules) => ({
    expire: (state, token, delayMs, maxCrashes, _, now, seq) =>
      rules.expire(state, token, delayMs, maxCrashes, 'client-go', now, seq),
  })),
  verbMutant('lease-end-has-no-error', 'the end of a lease keeps the last error', (driver) => ({
    expire: (queue, leases, { error: _, ...options }) => driver.expire(queue, leases, options),
  })),
  ruleMutant(
    'lease-end-renews-age',
    'the lost run is asked for at the end of its lease',
    (rules) => ({
      expire(state, token, delayMs, maxCrashes, dedupe, now, seq) {
        const outcome = rules.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
        if (outcome !== 'lost') state.askedAt = now
        return outcome
      },
    }),
  ),
  ruleMutant('release-renews-age', 'a release resets the age of its run', (rules) => ({
    release(state, token, dedupe, now, seq) {
      const outcome = rules.release(state, token, dedupe, now, seq)
      if (outcome !== 'lost') state.askedAt = now
      return outcome
    },
  })),
  verbMutant('lost-end-has-error', 'an end of a lost lease writes its error', (driver, store) => ({
    expire(queue, leases, options) {
      for (const { key } of leases) {
        const entry = store.queue(queue).keys.get(key)
        if (entry !== undefined && options.error !== undefined) entry.lastError = options.error
      }
      return driver.expire(queue, leases, options)
    },
  })),
  ruleMutant('renew-not-held', 'a renewal of a key that is not held is accepted', (rules) => ({
    renew: (state, token, leaseUntil) =>
      state.token === noToken && token !== noToken
        ? 'renewed'
        : rules.renew(state, token, leaseUntil),
  })),
  ruleMutant('retry-not-held', 'a retry of a key that is not held counts a failure', (rules) => ({
    retry(state, ...rest) {
      const isHeld = state.token !== noToken
      const outcome = rules.retry(state, ...rest)
      if (!isHeld) state.failures += 1
      return outcome
    },
  })),
  verbMutant(
    'pending-after-lease-end',
    'runs of expired leases are not pending',
    (driver, store) => ({
      add(queue, asks, options) {
        const { maxPending } = options
        if (maxPending === undefined) return driver.add(queue, asks, options)
        const rows = [...store.queue(queue).keys.values()]
        const lost = rows.filter(
          ({ state }) => state.crashes > 0 && state.dueAt !== Infinity,
        ).length
        return driver.add(queue, asks, { ...options, maxPending: maxPending + lost })
      },
    }),
  ),
]
