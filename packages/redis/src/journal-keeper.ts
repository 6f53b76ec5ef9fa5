import { batchKeysMax, type Timer } from '@sluice/core'
import type { Ask, AskReply, Finish, FinishReply, TransferRow } from '@sluice/core/driver'
import { type Environment, never } from '@sluice/core/driver'
import { Journal, journalBytesMax, journalKeysMax, type Unconfirmed } from './journal.ts'
import type { Store } from './store.ts'
import { repeatFinishes } from './verbs/finish.ts'
import { replayRows } from './verbs/transfer.ts'

/** How often replicas are asked how much they have, in milliseconds, while there is anything to ask. */
const askMs = 1_000

/**
 * How long a store without replicas is given to write to its disk, in milliseconds, counted back from
 * its last reply.
 */
const replayMs = 10_000

/** The longest that a full journal makes an add wait for replicas, in milliseconds. */
const fullMs = 10_000

/** What was repeated after a failover. */
export interface Replayed {
  readonly queue: string
  readonly adds: number
  readonly finishes: number
}

/**
 * The journals of all queues: trims them as replicas receive what is in them, and repeats it when
 * another server has become the primary of a queue.
 */
export class JournalKeeper {
  readonly #store: Store
  readonly #environment: Environment
  readonly #onReplay: (replayed: Replayed) => void
  readonly #journals: Map<string, Journal> = new Map()
  readonly #unwatch: () => void
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  /** When the newest reply came, on the monotonic clock. */
  #repliedAt = 0

  constructor(store: Store, environment: Environment, onReplay: (replayed: Replayed) => void) {
    this.#store = store
    this.#environment = environment
    this.#onReplay = onReplay
    this.#unwatch = store.connections.watchPrimaries(() => void this.#look())
  }

  /** Notes the replies to a batch of adds. Waits for replicas if the journal is full. */
  async noteAdds(
    queue: string,
    asks: readonly Ask[],
    replies: readonly AskReply[],
    lastSeq: number,
  ): Promise<void> {
    const journal = this.#of(queue)
    journal.noteAdds(asks, replies, this.#acknowledged(queue, lastSeq))
    if (journal.size < journalKeysMax && journal.bytes < journalBytesMax) return
    const { connections, layout } = this.#store
    const { slot } = layout.of(queue)
    const nth = journal.nth
    const barrier = await connections.barrier(slot)
    await barrier.confirmed(connections.replicas, fullMs)
    journal.confirmed(connections.primaryOf(slot), nth)
  }

  /** Notes the replies to a batch of finishes. */
  noteFinishes(
    queue: string,
    finishes: readonly Finish[],
    replies: readonly FinishReply[],
    lastSeq: number,
  ): void {
    this.#of(queue).noteFinishes(finishes, replies, this.#acknowledged(queue, lastSeq))
  }

  /** This process has cancelled or removed keys; all of the queue if `keys` is undefined. */
  strike(queue: string, keys: readonly string[] | undefined): void {
    const journal = this.#journals.get(queue)
    if (keys === undefined) journal?.strikeAll()
    else journal?.strike(keys)
  }

  /** Waits until replicas have everything, at most `graceMs`, and stops. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#environment
    const endAt = clock.monotonicMs() + graceMs
    const { replicas } = this.#store.connections
    while (replicas > 0 && this.#journals.size > 0 && clock.monotonicMs() < endAt) {
      await this.#look()
      if (this.#journals.size === 0) break
      await new Promise<void>((resolve) => void clock.startTimer(50, resolve).ref())
    }
    this.#unwatch()
    this.#timer?.stop()
    this.#timer = undefined
    this.#journals.clear()
  }

  #of(queue: string): Journal {
    let journal = this.#journals.get(queue)
    if (journal === undefined) {
      journal = new Journal()
      this.#journals.set(queue, journal)
    }
    this.#timer ??= this.#environment.clock.startTimer(askMs, () => void this.#onTimer())
    return journal
  }

  #acknowledged(queue: string, lastSeq: number) {
    const { connections, layout, time } = this.#store
    this.#repliedAt = this.#environment.clock.monotonicMs()
    return {
      primary: connections.primaryOf(layout.of(queue).slot),
      now: time.latest,
      lastSeq,
      at: this.#repliedAt,
    }
  }

  async #onTimer(): Promise<void> {
    await this.#look()
    if (this.#journals.size > 0) this.#timer?.reset(askMs)
    else {
      this.#timer?.stop()
      this.#timer = undefined
    }
  }

  /** One round at a time: asks replicas, and repeats what another primary has acknowledged. */
  async #look(): Promise<void> {
    this.#round ??= this.#lookOnce().finally(() => {
      this.#round = undefined
    })
    await this.#round
  }

  async #lookOnce(): Promise<void> {
    for (const [queue, journal] of [...this.#journals]) {
      try {
        await this.#repeat(queue, journal)
      } catch {
        // The next round repeats it: entries stay until they are confirmed.
      }
    }
    await this.#trim()
    for (const [queue, journal] of this.#journals) {
      if (journal.size === 0) this.#journals.delete(queue)
    }
  }

  /** One `WAIT 0 0` for each primary covers the entries of all its queues. */
  async #trim(): Promise<void> {
    const { connections, layout } = this.#store
    if (connections.replicas === 0) {
      for (const journal of this.#journals.values()) journal.expired(this.#repliedAt - replayMs)
      // Without anything new, what is older than a while is on the disk.
      const quiet = this.#environment.clock.monotonicMs() - this.#repliedAt
      if (quiet > replayMs) for (const journal of this.#journals.values()) journal.strikeAll()
      return
    }
    const byPrimary = new Map<string, { slot: string; journals: (readonly [Journal, number])[] }>()
    for (const [queue, journal] of this.#journals) {
      const { slot } = layout.of(queue)
      const primary = connections.primaryOf(slot)
      const group = byPrimary.get(primary) ?? { slot, journals: [] }
      group.journals.push([journal, journal.nth])
      byPrimary.set(primary, group)
    }
    await Promise.all(
      [...byPrimary].map(async ([primary, { slot, journals }]) => {
        try {
          const barrier = await connections.barrier(slot)
          if ((await barrier.count()) < connections.replicas) return
          if (connections.primaryOf(slot) !== primary) return
          for (const [journal, nth] of journals) journal.confirmed(primary, nth)
        } catch {
          // The primary is away; nothing is confirmed.
        }
      }),
    )
  }

  /** Finishes first: a key that was finished must not count as held by a process that vanished. */
  async #repeat(queue: string, journal: Journal): Promise<void> {
    const { connections, layout } = this.#store
    const primary = connections.primaryOf(layout.of(queue).slot)
    const unconfirmed = journal.unconfirmed(primary)
    const { finishes, rows, nth } = unconfirmed
    if (finishes.length + rows.length === 0) return
    await this.#repeatFinishes(queue, unconfirmed)
    for (const some of slices(rows)) await replayRows(this.#store, queue, some)
    journal.repeated(primary, nth, this.#environment.clock.monotonicMs())
    this.#onReplay({ queue, adds: rows.length, finishes: finishes.length })
  }

  async #repeatFinishes(queue: string, { finishes }: Unconfirmed): Promise<void> {
    const now = this.#store.time.latest
    const due = finishes.map(({ finish: one, dueAt }): Finish => {
      const delayMs = dueAt === never ? 0 : Math.max(0, dueAt - now)
      if (one.as === 'done' && one.again !== undefined) {
        return { ...one, again: { ...one.again, delayMs } }
      }
      if (one.as !== 'retry') return one
      const { plan: _, ...rest } = one
      // The delay was decided, and its token taken, when the reply was given.
      return { ...rest, delayMs }
    })
    for (const some of slices(due)) await repeatFinishes(this.#store, queue, some)
  }
}

function slices<T extends Finish | TransferRow>(entries: readonly T[]): readonly (readonly T[])[] {
  const size = Math.floor(batchKeysMax / 2)
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  )
}
