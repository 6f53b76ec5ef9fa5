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
