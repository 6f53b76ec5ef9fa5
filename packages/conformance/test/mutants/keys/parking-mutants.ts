import { emptyKeyState, never, noToken } from '@sluice/core'
import { type Mutant, ruleMutant, verbMutant } from '../mutant.ts'

/** Parking, and the verbs of operators, with one wrong rule each. */
export const parkingMutants: readonly Mutant[] = [
  ruleMutant('park-drops', 'parking drops the run', (rules) => ({
    parkHeld(state, ...rest) {
      const outcome = rules.parkHeld(state, ...rest)
      if (outcome !== 'lost') rules.cancel(state)
      return outcome
    },
  })),
  ruleMutant('park-always-fails', 'parking always counts a failure', (rules) => ({
    parkHeld: (state, token, _, ...rest) => rules.parkHeld(state, token, true, ...rest),
  })),
  ruleMutant('park-never-fails', 'parking never counts a failure', (rules) => ({
    parkHeld: (state, token, _, ...rest) => rules.parkHeld(state, token, false, ...rest),
  })),
  verbMutant('park-failure-lost', 'the failure of a park is not stored', (driver, store) => ({
    finish(queue, finishes, options) {
      const parks = finishes.filter(({ as }) => as === 'park')
      const before = parks.map(({ key }) => store.key(queue, key).state.failures)
      const replies = driver.finish(queue, finishes, options)
      parks.forEach(({ key }, at) => {
        store.key(queue, key).state.failures = before[at] ?? 0
      })
      return replies
    },
  })),
  ruleMutant('parked-drops-adds', 'adds of a parked key are dropped', (rules) => ({
    ask: (state, ...rest) => (state.parked ? 'parked' : rules.ask(state, ...rest)),
  })),
  ruleMutant('parked-silently', 'an add of a parked key does not return parked', (rules) => ({
    ask(state, ...rest) {
      const outcome = rules.ask(state, ...rest)
      return outcome === 'parked' ? 'unchanged' : outcome
    },
  })),
  ruleMutant('parked-claimed', 'parked keys are handed out', (rules) => ({
    isClaimable: (state, now) => rules.isClaimable({ ...state, parked: false }, now),
  })),
  ruleMutant('unpark-old-position', 'an unparked key goes to its old position', (rules) => ({
    unpark(state, ...rest) {
      const { readyAt, seq } = state
      const outcome = rules.unpark(state, ...rest)
      return Object.assign(state, { readyAt, seq }) && outcome
    },
  })),
  ruleMutant('unpark-forgets-nothing', 'unpark with forget resets nothing', (rules) => ({
    unpark: (state, _, ...rest) => rules.unpark(state, false, ...rest),
  })),
  ruleMutant(
    'unpark-forgets-all',
    'unpark with forget resets keys that are not parked',
    (rules) => ({
      unpark(state, forgets, ...rest) {
        if (forgets) rules.forget(state)
        return rules.unpark(state, forgets, ...rest)
      },
    }),
  ),
  ruleMutant('park-by-operator-now', 'parking a held key takes it from its holder', (rules) => ({
    park(state) {
      const outcome = rules.park(state)
      if (outcome === 'changed') state.token = noToken
      return outcome
    },
  })),
  ruleMutant('run-now-adds', 'runNow creates a run if none is pending', (rules) => ({
    runNow(state, now, seq) {
      if (rules.isGone(state)) return 'missing'
      return rules.add(state, 0, 'earliest', now, seq) === 'unchanged' ? 'unchanged' : 'changed'
    },
  })),
  ruleMutant('run-now-to-tail', 'runNow of a ready key sends it to the tail', (rules) => ({
    runNow(state, now, seq) {
      const outcome = rules.runNow(state, now, seq)
      if (outcome === 'unchanged') Object.assign(state, { readyAt: now, seq })
      return outcome
    },
  })),
  ruleMutant('run-now-twice', 'runNow leaves the delay, so that the key runs twice', (rules) => ({
    runNow(state, now, seq) {
      const { dueAt } = state
      const outcome = rules.runNow(state, now, seq)
      if (outcome === 'changed') state.laterAt = dueAt
      return outcome
    },
  })),
  ruleMutant('remove-takes-held', 'remove takes a key from its holder', (rules) => ({
    remove(state) {
      const outcome = rules.remove(state)
      if (outcome !== 'missing') Object.assign(state, emptyKeyState())
      return outcome
    },
  })),
  ruleMutant('remove-keeps-failures', 'remove keeps failures', (rules) => ({
    remove(state) {
      const { failures, failedAt } = state
      const outcome = rules.remove(state)
      return Object.assign(state, { failures, failedAt }) && outcome
    },
  })),
  ruleMutant('cancel-one-run', 'cancel removes the first pending run only', (rules) => ({
    cancel(state) {
      if (state.laterAt === never) return rules.cancel(state)
      state.dueAt = state.laterAt
      state.laterAt = never
      return 'cancelled'
    },
  })),
  ruleMutant('cancel-forgets', 'cancel resets failures', (rules) => ({
    cancel(state) {
      const outcome = rules.cancel(state)
      rules.forget(state)
      return outcome
    },
  })),
  ruleMutant('cancel-lets-go', 'cancel releases a held key', (rules) => ({
    cancel(state) {
      const outcome = rules.cancel(state)
      state.token = noToken
      return outcome
    },
  })),
]
