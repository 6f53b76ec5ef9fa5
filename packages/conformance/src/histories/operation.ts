import type { Ask, Claim, EpochMs, Finish } from '@sluice/core'

/** What a client asked, and what it was told, about one key. */
export type Deed =
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
      /** The answer was asked for again, and tells of the key what has become of it meanwhile. */
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
 * One operation of a history: a deed about one key, when it was asked and when it was answered.
 *
 * `start` and `end` count the events of the history; they are not times. An operation without an
 * answer is unknown: it may have happened at any moment after its start, or never, and has no end.
 * What is known not to have happened is not in the history.
 */
export interface Operation {
  readonly key: string
  readonly client: string
  readonly start: number
  readonly end: number
  /** The store's time, which stands still while operations are under way. */
  readonly now: EpochMs
  readonly deed: Deed
}

/** What is written down while clients work. */
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

/** What of a deed is worth reading. */
function words(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).filter(([name, part]) => {
    return part !== undefined && name !== 'key' && name !== 'verb' && name !== 'answer'
  })
  return parts
    .map(([name, part]) => (typeof part === 'object' ? words(part) : `${name} ${String(part)}`))
    .join(', ')
}

/** An operation in words. */
export function told({ key, client, start, end, now, deed }: Operation): string {
  const said = deed.answer === undefined ? 'no answer' : words(deed.answer)
  const until = end === Infinity ? '…' : end
  return `${start}-${until} ${client}, at ${now}: ${deed.verb} ${key}: ${words(deed)} → ${said}`
}
