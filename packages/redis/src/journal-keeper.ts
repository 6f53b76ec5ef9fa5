import { AsyncLocalStorage } from 'node:async_hooks'
import { batchKeysMax, SluiceError, type Timer } from '@sluice/core'
import { type Ask, type Dedupe, type Environment, type Finish, never } from '@sluice/core/driver'
import { type Acknowledged, Journal, type Promised, type Unconfirmed } from './journal.ts'
import type { Store, Written } from './store.ts'
import type { Added } from './verbs/add.ts'
import type { OnReleased } from './verbs/claim.ts'
import { type Finished, repeatFinishes } from './verbs/finish.ts'
import { replayRuns } from './verbs/transfer.ts'

/** How often primaries are asked what their replicas have, in milliseconds, while there is anything to ask. */
const askMs = 1_000

/** How long a primary without replicas is given to write to its disk, in milliseconds. */
const replayMs = 10_000

/** The longest that a full journal makes an add wait for replicas, in milliseconds. */
const fullMs = 10_000

/** In the context of the add that starts the timer, the trace of one request would have no end. */
const inNoRequest = AsyncLocalStorage.snapshot()

/** The writes that were repeated after a failover. */
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
  #isClosing = false

  constructor(store: Store, environment: Environment, onReplay: (replayed: Replayed) => void) {
    this.#store = store
    this.#environment = environment
    this.#onReplay = onReplay
    this.#unwatch = store.connections.watchPrimaries(() => void this.look())
  }

  /** To be called before an add: waits for replicas if the journal is full. */
  async makeRoom(queue: string): Promise<void> {
    const journal = this.#journals.get(queue)
    if (journal?.isFull !== true) return
    const { connections, layout } = this.#store
    const { slot } = layout.of(queue)
    let cause: unknown
    try {
      await this.look()
      if (journal.isFull) {
        // Rejects while the primary does not answer: it may come back without what it has acknowledged.
        const { primary } = await connections.progress(slot)
        if (connections.replicasOf(slot) === 0) journal.halve(primary)
        else await this.#confirmAll(slot, journal)
      }
    } catch (error) {
      cause = error
    }
    if (!journal.isFull) return
    throw new SluiceError(
      'ERR_STORE_BUSY',
      `nothing can be added to the queue ${queue} now: a failover could lose the last adds of this process, its list of them is full, and the replicas of Redis have not confirmed them within ${fullMs / 1_000} s; check that the replicas are connected`,
      { cause, retryable: true },
    )
  }

  async #confirmAll(slot: string, journal: Journal): Promise<void> {
    const { connections } = this.#store
    const barrier = await connections.barrier(slot)
    const { nth } = journal
    const primary = connections.primaryOf(slot)
    await barrier.confirmed(connections.replicasOf(slot), fullMs)
    journal.confirmed(primary, nth)
  }

  /** Notes the replies to a batch of adds. */
  noteAdds(queue: string, asks: readonly Ask[], added: Added, dedupe: Dedupe): void {
    if (this.#store.isConfirmed(queue)) return
    const { replies, written } = added
    this.#of(queue).noteAdds(asks, replies, this.#acknowledged(queue, written), dedupe)
  }

  /** Notes the replies to a batch of finishes. */
  noteFinishes(queue: string, finishes: readonly Finish[], finished: Finished): void {
    if (!this.#store.isConfirmed(queue)) this.noteReleases(queue, finishes, finished)
  }

  /** Notes the releases of a queue. */
  releasesOf(queue: string): OnReleased {
    return (releases, released) => this.noteReleases(queue, releases, released)
  }

  /** Notes finishes that replicas have not confirmed; without a reply, they are made again. */
  noteReleases(queue: string, finishes: readonly Finish[], finished: Finished | undefined): void {
    const journal = this.#of(queue)
    if (finished === undefined) {
      journal.noteUnanswered(finishes, this.#environment.clock.monotonicMs())
      return
    }
    const { replies, written } = finished
    journal.noteFinishes(finishes, replies, this.#acknowledged(queue, written))
  }

  /** This process has cancelled or removed keys; all of the queue if `keys` is undefined. */
  discard(queue: string, keys: readonly string[] | undefined, { lastSeq }: Written): void {
    this.#journals.get(queue)?.discard(keys, lastSeq)
  }

  /**
   * Waits until the replicas that are connected have everything, at most `graceMs`, and stops. One that is
   * missing does not come back in time.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    const { clock } = this.#environment
    let grace: Timer | undefined
    const isOver = new Promise<void>((resolve) => {
      grace = clock.startTimer(graceMs, resolve)
      grace.ref()
    })
    // A primary that is silent would be waited for until it is given up.
    await Promise.race([this.#untilFollowed(clock.monotonicMs() + graceMs), isOver])
    grace?.stop()
    this.#unwatch()
    this.#timer?.stop()
    this.#timer = undefined
    this.#journals.clear()
  }

  async #untilFollowed(endAt: number): Promise<void> {
    const { clock } = this.#environment
    while (this.#waitsForReplicas() && clock.monotonicMs() < endAt) {
      await this.#promptReplicas(Math.min(askMs, endAt - clock.monotonicMs()))
      // What the first look asks for is confirmed by the second.
      await this.look()
      await this.look()
      if (!this.#waitsForReplicas()) break
      await new Promise<void>((resolve) => void clock.startTimer(50, resolve).ref())
    }
  }

  /** Replicas say how far they are once a second, and at once when a barrier asks for it. */
  async #promptReplicas(withinMs: number): Promise<void> {
    const { connections, layout } = this.#store
    const slots = [...this.#journals.keys()].map((queue) => layout.of(queue).slot)
    const prompts = slots.map(async (slot) => {
      const barrier = await connections.barrier(slot)
      const { connected } = await connections.progress(slot)
      await barrier.confirmed(Math.min(connected, connections.replicasOf(slot)), withinMs)
    })
    // Whether they have everything is what the looks tell.
    await Promise.allSettled(prompts)
  }

  #waitsForReplicas(): boolean {
    const { connections, layout } = this.#store
    const queues = [...this.#journals.keys()]
    return queues.some((queue) => connections.replicasOf(layout.of(queue).slot) > 0)
  }

  #of(queue: string): Journal {
    let journal = this.#journals.get(queue)
    if (journal === undefined) {
      journal = new Journal()
      this.#journals.set(queue, journal)
    }
    // An answer may come while the store closes, after which nothing would stop the timer.
    if (this.#isClosing) return journal
    this.#timer ??= this.#environment.clock.startTimer(askMs, () => {
      void inNoRequest(() => this.#onTimer())
    })
    return journal
  }

  /**
   * The primary is the one that has answered, which need not be the newest that is known. While a slot moves, it
   * is known for other slots: one that has failed is not.
   */
  #acknowledged(queue: string, { now, lastSeq, by }: Written): Acknowledged {
    const { connections, layout } = this.#store
    const known = connections.primaryOf(layout.of(queue).slot)
    const isKnown = by === '' || known.startsWith(by)
    const other = isKnown ? undefined : connections.idOf(by)
    return {
      primary: isKnown ? known : (other ?? by),
      tabled: other && known,
      by,
      now,
      lastSeq,
      at: this.#environment.clock.monotonicMs(),
    }
  }

  async #onTimer(): Promise<void> {
    await this.look()
    if (this.#journals.size > 0) this.#timer?.reset(askMs)
    else {
      this.#timer?.stop()
      this.#timer = undefined
    }
  }

  /** One round at a time: asks replicas, and repeats what another primary has acknowledged. */
  async look(): Promise<void> {
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
      if (journal.isEmpty) this.#journals.delete(queue)
    }
  }

  /** Replicas are asked once for the entries of all queues of a primary. */
  async #trim(): Promise<void> {
    const { connections, layout } = this.#store
    const byPrimary = new Map<string, { slot: string; journals: Journal[] }>()
    for (const [queue, journal] of this.#journals) {
      const { slot } = layout.of(queue)
      const primary = connections.primaryOf(slot)
      const group = byPrimary.get(primary) ?? { slot, journals: [] }
      group.journals.push(journal)
      byPrimary.set(primary, group)
    }
    await Promise.all(
      [...byPrimary].map(async ([primary, { slot, journals }]) => {
        const asked = journals.map(({ nth }) => nth)
        const at = this.#environment.clock.monotonicMs()
        try {
          const progress = await connections.progress(slot)
          if (progress.primary !== primary) return
          const expected = connections.replicasOf(slot)
          const replicas = this.#isClosing ? Math.min(progress.connected, expected) : expected
          for (const [index, journal] of journals.entries()) {
            // A primary that answers has what it answered a while before on its disk.
            if (expected === 0) journal.expired(primary, at - replayMs)
            else if (progress.following >= replicas) journal.confirmed(primary, journal.asked)
            journal.asked = asked[index] ?? 0
          }
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
    if (primary === '') return
    const unconfirmed = journal.unconfirmed(primary)
    const { finishes, runs, nth } = unconfirmed
    if (finishes.length + runs.length === 0) return
    await this.#repeatFinishes(queue, unconfirmed)
    const numbers = new Map<string, Written>()
    for (const some of slices(runs)) {
      const { keys, written } = await replayRuns(this.#store, queue, some)
      for (const key of keys) numbers.set(key, written)
    }
    journal.repeated(primary, nth, this.#environment.clock.monotonicMs(), numbers)
    this.#onReplay({ queue, adds: numbers.size, finishes: finishes.length })
  }

  async #repeatFinishes(queue: string, { finishes }: Unconfirmed): Promise<void> {
    const now = this.#store.time.latest
    const due = finishes.map(({ finish: one, dueAt }): Finish => {
      if (dueAt === undefined) return one
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

function slices<T extends Finish | Promised>(entries: readonly T[]): readonly (readonly T[])[] {
  const size = Math.floor(batchKeysMax / 2)
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  )
}
