/** How many expired leases the answer to one claim reports. */
export const leaseEndsMax = 100

/** How long a worker stays on record after its last tick, in milliseconds: a day. */
export const workerMsMax: number = 24 * 60 * 60 * 1_000
