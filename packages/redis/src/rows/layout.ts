import { SluiceError, SluiceRangeError } from '@sluice/core'

/** The keys of a queue, in the order in which every script declares them. */
const queueParts = [
  'rows',
  'items',
  'errors',
  'keys',
  'ready',
  'delayed',
  'backoff',
  'held',
  'dirty',
  'parked',
  'idle',
  'meta',
  'workers',
] as const

/** The keys that queues share: the last token and the store's time, and the token buckets. */
const scopeParts = ['scope', 'buckets'] as const

/** Where the keys of a store are. */
export interface LayoutOptions {
  readonly prefix: string
  /** Whether all queues are in one hash slot. */
  readonly oneSlot: boolean
  /** Whether queues may be on different primaries. */
  readonly isCluster: boolean
}

/** The names of the keys of one queue. */
export interface QueueKeys {
  /** Every key that a script declares. */
  readonly all: readonly string[]
  /** The keys of what workers record, which only scripts that use them declare. */
  readonly recorded: readonly string[]
  /** A key by which the slot of the queue is found. */
  readonly slot: string
  /** Where the last token is. */
  readonly scope: string
  readonly buckets: string
  /** The names of all keys of the queue. */
  readonly keys: string
  /** The held keys by the ends of their leases, and the dirty ones by when they are due. */
  readonly held: string
  readonly dirty: string
  /** The channel on which processes wake each other. */
  readonly channel: string
}

/** The name within its hash tag. An empty tag is none: the keys of the queue would be in many slots. */
function tagged(name: string): string {
  if (name === '') return '%'
  return name.replaceAll(/[{}%]/g, (character) => encodeURIComponent(character))
}

/** Of how many queues the names are remembered; those of any other are made again. */
const knownMax = 10_000

/** The names of all keys of a store. */
export class Layout {
  /** The sorted set of the names of all queues, by when they were last seen. */
  readonly registry: string
  /** A hash of one field: the `oneSlot` with which the first queue was stored. */
  readonly slots: string
  /** A sorted set of one member: its score is the token above which new queues with own tokens begin. */
  readonly tokenFloor: string
  /** Whether the last token and the buckets are shared by all queues. */
  readonly isShared: boolean
  readonly #options: LayoutOptions
  readonly #known: Map<string, QueueKeys> = new Map()

  constructor(options: LayoutOptions) {
    const { prefix, oneSlot, isCluster } = options
    if (/[{}]/.test(prefix)) {
      throw new SluiceRangeError(
        'prefix',
        'must not contain { or }; to keep all queues in one hash slot, set oneSlot',
      )
    }
    this.#options = options
    this.isShared = oneSlot || !isCluster
    this.registry = `${prefix}{registry}:queues`
    this.slots = `${prefix}{registry}:slots`
    this.tokenFloor = `${prefix}{registry}:tokens`
  }

  /** As it is recorded. */
  get oneSlot(): string {
    return String(this.#options.oneSlot)
  }

  /** Throws if the queues are in other slots, where those of this layout would never meet them. */
  checkOneSlot(recorded: unknown): void {
    if (recorded === null || recorded === this.oneSlot) return
    throw new SluiceError(
      'ERR_STORE',
      `the queues of this store have oneSlot: ${recorded}; open it in the same way, or with another prefix`,
    )
  }

  /** The keys of one queue. */
  of(queue: string): QueueKeys {
    let keys = this.#known.get(queue)
    if (keys === undefined) {
      keys = this.#keysOf(queue)
      if (this.#known.size === knownMax) this.#known.clear()
      this.#known.set(queue, keys)
    }
    return keys
  }

  #keysOf(queue: string): QueueKeys {
    const { prefix, oneSlot, isCluster } = this.#options
    const name = tagged(queue)
    // The shared keys have the tag of the registry; with oneSlot every key has it.
    const base = oneSlot ? `${prefix}{registry}:${name}:` : `${prefix}{${name}}:`
    const shared = this.isShared ? `${prefix}{registry}:` : base
    const scope = scopeParts.map((part) => `${shared}${part}`)
    return {
      all: [...queueParts.map((part) => `${base}${part}`), ...scope],
      recorded: [`${base}history`, `${base}failed`],
      slot: `${base}meta`,
      scope: `${shared}scope`,
      buckets: `${shared}buckets`,
      keys: `${base}keys`,
      held: `${base}held`,
      dirty: `${base}dirty`,
      channel: isCluster ? `${base}wake` : `${prefix}wake`,
    }
  }
}
