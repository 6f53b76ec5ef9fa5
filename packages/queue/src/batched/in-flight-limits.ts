/**
 * Calls beside others: one call at a time gathers the most keys, and that is cheapest; but where very
 * many are wanted, the store and this process should not wait for each other.
 */

/** For so many keys, a call beside others is worth it. */
export const parallelMin = 250

/** How many claims may be under way at a time. */
export const claimsInFlightMax = 3

/** How many finishes; keys that come back at the same time have no order among themselves. */
export const finishesInFlightMax = 3
