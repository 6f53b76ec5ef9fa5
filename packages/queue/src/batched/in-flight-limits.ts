/**
 * Limits of calls in flight. One call at a time gathers the most keys, and that is cheapest; but
 * where very many keys are wanted, the store and this process should not wait for each other.
 */

/** A parallel call is worth it for so many keys. */
export const parallelMin = 500

/** How many claims may be in flight at a time. */
export const claimsInFlightMax = 2

/** How many batches of finishes: keys that are given back at the same time have no order. */
export const finishesInFlightMax = 2

/**
 * For how many turns of the microtask queue a batch that was answered still counts as in flight. Callers
 * that go on by its answers make their next calls in these turns, so that those travel with the calls that
 * wait already. Otherwise callers that are not in step would take turns, each with half of the batches.
 * An async function around a call takes one to three turns.
 */
export const callerTurns = 16

/**
 * How many keys a store answers at once, one batch after the other, before the event loop turns; a small
 * batch takes as long as one of `atOnceMin` keys, or longer where a disk is written. Without turns, half a
 * million adds in one call, or a loop of awaited adds, kept every timer of the process waiting for seconds.
 */
export const atOnceMax = 4_000
export const atOnceMin = 50
