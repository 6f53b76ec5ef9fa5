import type { Ask, Claim, EpochMs, Finish } from '@sluice/core'

/** One call of a client and its answer, for one key. */
export type Action =
  | {
      readonly verb: 'add'
      readonly ask: Ask
      readonly dedupe: 'client-go' | 'earliest'
      readonly answer?: {
        readonly outcome: string
        readonly dueAt: number
        readonly failures: number
      }
    }
  | {
      readonly verb: 'claim'
      readonly leaseMs: number
      readonly answer?: Claim
      /** The answer comes from `adopt`, so that it shows the key as it was then. */
      readonly isAdopted?: boolean
    }
  | {
      readonly verb: 'finish'
      readonly finish: Finish
      readonly dedupe: 'client-go' | 'earliest'
      readonly answer?: { readonly outcome: string }
    }
  | {
      readonly verb: 'renew'
      readonly token: number
      readonly leaseMs: number
      readonly answer?: { readonly outcome: string; readonly leaseUntil: number }
    }
  | {
      readonly verb: 'expire'
      readonly token: number
      readonly dedupe: 'client-go' | 'earliest'
      readonly answer?: string
    }
  | { readonly verb: 'forget'; readonly answer?: string }
  | { readonly verb: 'cancel'; readonly answer?: string }

/**
 * One operation of a history: an action on one key, with the events of its call and its answer.
 *
 * `start` and `end` count the events of the history; they are not times. An operation without an
 * answer is unknown: it may have taken effect at any moment after its start, or never, and has no
 * end. Calls that are known to have had no effect are not in the history.
 */
export interface Operation {
  readonly key: string
  readonly client: string
  readonly start: number
  readonly end: number
  /** The store's time, which stands still while operations are in flight. */
  readonly now: EpochMs
  readonly action: Action
}

/** The record of all operations of several clients. */
export class History {
  readonly operations: Operation[] = []
  #events = 0

  /** The next event's number. */
  event(): number {
    this.#events += 1
    return this.#events
  }

  note(operation: Operation): void {
    this.operations.push(operation)
  }

  /** The operations of each key. */
  byKey(): Map<string, Operation[]> {
    const keys = new Map<string, Operation[]>()
    for (const operation of this.operations) {
      const own = keys.get(operation.key)
      if (own === undefined) keys.set(operation.key, [operation])
      else own.push(operation)
    }
    return keys
  }
}

/** The readable part of an action. */
function words(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).filter(([name, part]) => {
    return part !== undefined && name !== 'key' && name !== 'verb' && name !== 'answer'
  })
  return parts
    .map(([name, part]) => (typeof part === 'object' ? words(part) : `${name} ${String(part)}`))
    .join(', ')
}

/** An operation as one line of text. */
export function describeOperation({ key, client, start, end, now, action }: Operation): string {
  const said = action.answer === undefined ? 'no answer' : words(action.answer)
  const until = end === Infinity ? '…' : end
  return `${start}-${until} ${client}, at ${now}: ${action.verb} ${key}: ${words(action)} → ${said}`
}
