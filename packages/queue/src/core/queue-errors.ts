import { SluiceError } from '@sluice/core'

/** The phase of a queue object, from its making to its end. */
export type Phase = 'open' | 'shutting-down' | 'closing' | 'closed'

/** The error of an add to a queue that has maxPending keys. */
export function queueFull(queue: string, maxPending: number | undefined): SluiceError {
  return new SluiceError(
    'ERR_QUEUE_FULL',
    `cannot add another key to queue ${JSON.stringify(queue)}: ${maxPending} keys are waiting ` +
      'already, which is maxPending',
    { retryable: true },
  )
}

/** The error of an add to a queue object that was shut down. */
export function queueShutDown(queue: string, key: string): SluiceError {
  return new SluiceError(
    'ERR_SHUT_DOWN',
    `cannot add key ${JSON.stringify(key)} to queue ${JSON.stringify(queue)}: it was shut down; ` +
      'make a new queue object',
  )
}

/** The error of every call of a queue object that was closed. */
export function queueClosed(queue: string): SluiceError {
  return new SluiceError(
    'ERR_CLOSED',
    `cannot use queue ${JSON.stringify(queue)}: it was closed; make a new queue object`,
  )
}

/** The error of synchronous verbs in a transaction, which cannot wait until the store is open. */
export function storeNotOpen(queue: string): SluiceError {
  return new SluiceError(
    'ERR_STORE',
    `cannot use queue ${JSON.stringify(queue)} in a transaction: its store is not open yet; await ` +
      'another call of the queue first, such as len()',
    { retryable: true },
  )
}

/** The report of a Held that was garbage-collected before it was finished. */
export function heldDropped(key: string): SluiceError {
  return new SluiceError(
    'ERR_HELD_DROPPED',
    `key ${JSON.stringify(key)} was not given back: its Held was dropped; finish ` +
      'every Held, or take it with `await using`',
  )
}

/** How many keys an error names. */
const namesMax = 10

/** The report of keys that were not given back in time. `ended`: what has ended before. */
export function keysLeft(ended: string, keys: readonly string[], leaseMs: number): SluiceError {
  const names = keys.slice(0, namesMax).map((key) => JSON.stringify(key))
  if (keys.length > namesMax) names.push(`${keys.length - namesMax} more`)
  const fate = leaseMs === Infinity ? 'they stay held' : 'they run again when their leases end'
  return new SluiceError(
    'ERR_CLOSING',
    `${ended} before these keys were given back: ${names.join(', ')}; ${fate}`,
  )
}

/** The error that the holder of a lost key gets. */
export function leaseLost(key: string, why: string): SluiceError {
  return new SluiceError(
    'ERR_LEASE_LOST',
    `the lease of key ${JSON.stringify(key)} is lost: ${why}; stop working on it`,
  )
}

/** The error of a call whose outcome is unknown. */
export function unknownOutcome(why: string, cause?: unknown): SluiceError {
  return new SluiceError(
    'ERR_UNKNOWN_OUTCOME',
    `cannot say whether the call took effect: ${why}; look the key up before you repeat it`,
    cause === undefined ? {} : { cause },
  )
}
