import { never, noToken } from '@sluice/core'
import { type Mutant, ruleMutant } from './mutant.ts'

/** Order and priority, with one wrong rule each. */
export const orderMutants: readonly Mutant[] = [
  ruleMutant('order-by-age-only', 'priorities have no effect', (rules) => ({
    comesBefore: (a, b) => rules.comesBefore({ ...a, priority: 0 }, { ...b, priority: 0 }),
  })),
  ruleMutant('order-by-due', 'keys are ordered by when they were due', (rules) => ({
    comesBefore: (a, b) =>
      rules.comesBefore({ ...a, readyAt: a.dueAt }, { ...b, readyAt: b.dueAt }),
  })),
  ruleMutant(
    'order-last-first',
    'of keys that are ready since the same instant the last comes first',
    () => ({
      comesBefore: (a, b) => b.priority - a.priority || a.readyAt - b.readyAt || b.seq - a.seq,
    }),
  ),
  ruleMutant(
    'order-second-runs',
    'a later claim puts the second run of its key first',
    (rules) => ({
      claim(state, ...rest) {
        rules.claim(state, ...rest)
        if (state.dueAt !== never) state.seq = -state.seq
      },
    }),
  ),
  ruleMutant('order-run-now-late', 'a key that is run now comes after the next one', (rules) => ({
    runNow: (state, now, seq) => rules.runNow(state, now, seq + 1.5),
  })),
  ruleMutant(
    'order-lease-end-late',
    'a key whose lease is ended comes after the next one',
    (rules) => ({
      expire: (state, token, delayMs, maxCrashes, dedupe, now, seq) =>
        rules.expire(state, token, delayMs, maxCrashes, dedupe, now, seq + 1.5),
    }),
  ),
  ruleMutant('order-by-arrival', 'keys are ordered by when they were added', () => ({
    comesBefore: (a, b) => b.priority - a.priority || a.seq - b.seq,
  })),
  ruleMutant('priority-lower-wins', 'a lower priority replaces a higher one', (rules) => ({
    ask(state, request, ...rest) {
      const outcome = rules.ask(state, request, ...rest)
      state.priority = request.priority
      return outcome
    },
  })),
  ruleMutant('priority-first-wins', 'the first priority stays', (rules) => ({
    ask: (state, request, ...rest) =>
      rules.ask(
        state,
        state.dueAt === never ? request : { ...request, priority: state.priority },
        ...rest,
      ),
  })),
  ruleMutant(
    'priority-rise-keeps-position',
    'a key whose priority rises keeps its age',
    (rules) => ({
      ask(state, request, ...rest) {
        const { dueAt, readyAt, seq } = state
        const outcome = rules.ask(state, request, ...rest)
        if (outcome === 'moved' && state.dueAt === dueAt) Object.assign(state, { readyAt, seq })
        return outcome
      },
    }),
  ),
  ruleMutant(
    'priority-rise-ends-delay',
    'a delayed key that rises has its age from then',
    (rules) => ({
      ask(state, request, delayMs, options, now, seq) {
        const { priority } = state
        const outcome = rules.ask(state, request, delayMs, options, now, seq)
        if (delayMs > 0 && state.priority > priority && state.dueAt > now) state.readyAt = now
        return outcome
      },
    }),
  ),
  ruleMutant('priority-sticks', 'a priority survives its run', (rules) => ({
    ask(state, request, ...rest) {
      const claimed = state.token === noToken ? request.priority : state.claimedPriority
      const priority = Math.max(request.priority, claimed)
      return rules.ask(state, { ...request, priority }, ...rest)
    },
  })),
  ruleMutant('priority-lost-on-retry', 'a retried key has priority 0', (rules) => {
    const plain = (state: { claimedPriority: number }): void => {
      state.claimedPriority = 0
    }
    return {
      retry(state, ...rest) {
        plain(state)
        return rules.retry(state, ...rest)
      },
      expire(state, ...rest) {
        plain(state)
        return rules.expire(state, ...rest)
      },
      release(state, ...rest) {
        plain(state)
        return rules.release(state, ...rest)
      },
    }
  }),
]
