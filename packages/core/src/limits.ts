/**
 * The limits and defaults that packages share, by name and unit. A number that one file needs, such
 * as the wait after a claim that met locked rows, is in that file; limiters have their own defaults.
 *
 * A value beyond a limit that ends in `Max` or `Min` is rejected; an option can change a default. Not
 * rejected: counters stay at `failuresMax`, delays of limiters and of back-off stay at `delayMsMax`,
 * and texts of errors are cut off at `errorBytesMax`.
 */

/** The longest key, in bytes of UTF-8: a key is part of every index of a store. */
export const keyBytesMax = 512

/** The longest queue name, in bytes of UTF-8; the names of buckets and workers keep to it too. */
export const queueNameBytesMax = 128

/** The longest item, in bytes of its JSON text, unless an option allows more. */
export const itemBytesDefault: number = 64 * 1024

/** The longest item that any option can allow, in bytes of its JSON text. */
export const itemBytesMax: number = 1024 * 1024

/** How deep arrays and objects of an item may be nested; `[[1]]` is 2 deep. */
export const jsonDepthMax = 100

/** The most keys that one call, and one step of a driver, may name. */
export const batchKeysMax = 1_000

/** The longest delay, in milliseconds: ten years of 365.25 days. */
export const delayMsMax: number = 10 * 365.25 * 24 * 60 * 60 * 1_000

/** The lowest priority. */
export const priorityMin = -1_000

/** The highest priority. */
export const priorityMax = 1_000

/** The priority of a key that is added without one. */
export const priorityDefault = 0

/** The most keys that one worker handles at the same time. */
export const concurrencyMax = 1_000

/** The highest value of the failure and crash counters: the largest 32-bit signed integer. */
export const failuresMax: number = 2 ** 31 - 1

/**
 * The shortest lease, in milliseconds: it is renewed at a third, which a busy store must manage.
 */
export const leaseMsMin = 100

/**
 * The longest lease, in milliseconds: a day, after which the keys of a dead worker are handed out
 * again.
 */
export const leaseMsMax: number = 24 * 60 * 60 * 1_000

/** How long a claimed key stays held without renewal, in milliseconds, where leases are used. */
export const leaseMsDefault = 30_000

/** How long after its last failure an idle key forgets its failures, in milliseconds: a day. */
export const failuresExpireMsDefault: number = 24 * 60 * 60 * 1_000

/** How many crashes, meaning lease ends, park a key. */
export const crashesMaxDefault = 5

/** How long one operation on a store may take, in milliseconds. */
export const timeoutMsDefault = 30_000

/** How many keys `addSoon` buffers for a slow or unreachable store before it rejects more. */
export const addSoonKeysMax = 10_000

/** How long `close` lets the handlers of a worker finish, in milliseconds. */
export const graceMsDefault = 10_000

/** The longest time between two ticks of a queue, in milliseconds, which is also the heartbeat. */
export const heartbeatMs = 10_000

/** The delay that stands in for one a limiter failed to give, in milliseconds. */
export const limiterFallbackMs = 1_000

/** How much of an error's text is stored with its key, in bytes of UTF-8; the rest is cut off. */
export const errorBytesMax = 4_096

/** How many parts the plan of a limiter may have, nested ones included. */
export const planPartsMax = 64

/** How many expired leases the answer to one claim reports at most. */
export const leaseEndsMax = 100

/** How long a worker stays on record after its last tick, in milliseconds: a day. */
export const workerMsMax: number = 24 * 60 * 60 * 1_000
