import { type Claim, noToken } from '@sluice/core'
import { type Mutant, mutant, ruleMutant, verbMutant } from '../mutant.ts'

/** Trace contexts, with one fault each. */
export const traceMutants: readonly Mutant[] = [
  ruleMutant('trace-first-replaced', 'the trace context of the first add is replaced', (rules) => ({
    ask(state, request, ...rest) {
      if (request.trace !== undefined) state.trace = undefined
      return rules.ask(state, request, ...rest)
    },
  })),
  ruleMutant('trace-last-dropped', 'only the first add leaves its trace context', (rules) => ({
    ask(state, request, ...rest) {
      const { trace } = state
      const outcome = rules.ask(state, request, ...rest)
      state.trace = trace ?? state.trace
      return outcome
    },
  })),
  ruleMutant('trace-kept-twice', 'one trace context is kept as two', (rules) => ({
    ask(state, request, ...rest) {
      const { trace } = state
      const outcome = rules.ask(state, request, ...rest)
      if (trace !== undefined && state.trace === trace) state.trace = `${trace} ${trace}`
      return outcome
    },
  })),
  ruleMutant('trace-cleared', 'an add without a trace context clears the stored ones', (rules) => ({
    ask(state, request, ...rest) {
      if (request.trace === undefined) state.trace = undefined
      return rules.ask(state, request, ...rest)
    },
  })),
  ruleMutant('trace-of-delays-lost', 'delayed adds leave no trace context', (rules) => ({
    ask: (state, request, delayMs, ...rest) =>
      rules.ask(state, delayMs > 0 ? { ...request, trace: undefined } : request, delayMs, ...rest),
  })),
  ruleMutant('trace-not-taken', 'a claim leaves the trace contexts to the next run', (rules) => ({
    claim(state, ...rest) {
      const { trace } = state
      rules.claim(state, ...rest)
      state.trace = trace
    },
  })),
  ruleMutant('trace-of-second-run', 'a second run keeps the trace contexts', (rules) => ({
    claim(state, ...rest) {
      const { trace } = state
      rules.claim(state, ...rest)
      if (state.dueAt !== Infinity) state.trace = trace
    },
  })),
  ruleMutant(
    'trace-to-running',
    'the trace context of an add to a held key is given to its holder',
    (rules) => ({
      ask(state, request, ...rest) {
        const { trace } = state
        const outcome = rules.ask(state, request, ...rest)
        if (state.token === noToken) return outcome
        state.claimedTrace = state.trace ?? state.claimedTrace
        state.trace = trace
        return outcome
      },
    }),
  ),
  ruleMutant('trace-retry-lost', 'a retried run loses its trace contexts', (rules) => ({
    retry(state, ...rest) {
      state.claimedTrace = undefined
      return rules.retry(state, ...rest)
    },
  })),
  ruleMutant('trace-again', 'a key that is done and added again keeps its contexts', (rules) => ({
    doneAgain(state, token, ...rest) {
      const { claimedTrace } = state
      const outcome = rules.doneAgain(state, token, ...rest)
      if (outcome !== 'lost') state.trace ??= claimedTrace
      return outcome
    },
  })),
  ruleMutant('trace-release-lost', 'a released run loses its trace contexts', (rules) => ({
    release(state, ...rest) {
      state.claimedTrace = undefined
      return rules.release(state, ...rest)
    },
  })),
  ruleMutant('trace-park-lost', 'a parked run loses its trace contexts', (rules) => ({
    parkHeld(state, ...rest) {
      state.claimedTrace = undefined
      return rules.parkHeld(state, ...rest)
    },
  })),
  ruleMutant('trace-crash-lost', 'a run whose lease expired loses its contexts', (rules) => ({
    expire(state, ...rest) {
      state.claimedTrace = undefined
      return rules.expire(state, ...rest)
    },
  })),
  verbMutant('trace-of-batch', 'a batch has the trace context of its first key', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, trace: asks[0]?.trace })),
        options,
      ),
  })),
  verbMutant('trace-of-first-key', 'one key of a batch gets the trace context', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask, n) =>
          n > 0 && ask.trace === asks[0]?.trace ? { ...ask, trace: undefined } : ask,
        ),
        options,
      ),
  })),
  ruleMutant('trace-cancel-kept', 'a cancelled run leaves its trace contexts', (rules) => ({
    cancel(state) {
      const { trace } = state
      const outcome = rules.cancel(state)
      state.trace = trace
      return outcome
    },
  })),
  ruleMutant('trace-remove-kept', 'a removed run leaves its trace contexts', (rules) => ({
    remove(state) {
      const { trace } = state
      const outcome = rules.remove(state)
      state.trace = trace
      return outcome
    },
  })),
  verbMutant('trace-adopt-lost', 'claims that are found again have no contexts', (driver) => ({
    adopt: (queue, claimId) =>
      driver.adopt(queue, claimId).map((claim): Claim => ({ ...claim, trace: undefined })),
  })),
  mutant('trace-volatile', 'trace contexts end with the process', () => ({
    alter: (driver, store) => ({
      close() {
        for (const { keys } of store.queues.values()) {
          for (const { state } of keys.values()) state.trace = undefined
        }
        driver.close()
      },
    }),
  })),
]
