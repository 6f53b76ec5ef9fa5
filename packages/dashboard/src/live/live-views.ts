import type { Timer } from '@sluice/core'
import type { Clock } from 'sluice'
import { type Connection, EventStream } from './event-stream.ts'
import { Refused } from '../http/http-error.ts'
import { Watch } from './watch.ts'
import type { About, Audit, Views } from '../wire.ts'

/** How long what was seen of a view is kept when nobody watches it, in milliseconds. */
const keepMs = 30_000

/** How many views are kept. */
const viewsMax = 200

/** What live views need. */
export interface LiveParts {
  readonly clock: Clock
  readonly tickMs: number
  readonly streamsMax: number
  /** How to look at a view. */
  readonly lookOf: (about: About, queue: string, key: string) => () => Promise<Views[About]>
  readonly report: (error: unknown) => void
}

/** A view that is watched, or was lately. */
interface Entry {
  readonly watch: Watch<Views[About]>
  forgetting: Timer | undefined
}

/** Every view that somebody watches, each looked at once for all. */
export class LiveViews {
  readonly #parts: LiveParts
  /** Those used last come last. */
  readonly #entries: Map<string, Entry> = new Map()
  readonly #streams: Set<EventStream> = new Set()
  #lastId = 0
  #isClosed = false

  constructor(parts: LiveParts) {
    this.#parts = parts
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size
  }

  #entry(about: About, queue: string, key: string): Entry {
    if (this.#isClosed) throw new Refused(503, 'ERR_CLOSED', 'this dashboard was closed')
    const id = JSON.stringify([about, queue, key])
    const known = this.#entries.get(id)
    this.#entries.delete(id)
    const entry = known ?? { watch: this.#watch(id, about, queue, key), forgetting: undefined }
    this.#entries.set(id, entry)
    this.#makeRoom()
    if (entry.watch.size === 0) this.#forgetLater(id, entry)
    return entry
  }

  #watch(id: string, about: About, queue: string, key: string): Watch<Views[About]> {
    const { clock, tickMs, lookOf, report } = this.#parts
    return new Watch<Views[About]>(lookOf(about, queue, key), {
      clock,
      tickMs,
      report,
      nextId: () => this.#nextId(),
      onIdle: () => {
        const entry = this.#entries.get(id)
        if (entry !== undefined) this.#forgetLater(id, entry)
      },
    })
  }

  #makeRoom(): void {
    for (const [id, { watch, forgetting }] of this.#entries) {
      if (this.#entries.size <= viewsMax) return
      if (watch.size > 0) continue
      forgetting?.stop()
      this.#entries.delete(id)
    }
  }

  #forgetLater(id: string, entry: Entry): void {
    entry.forgetting?.stop()
    entry.forgetting = this.#parts.clock.startTimer(keepMs, () => {
      if (entry.watch.size === 0 && this.#entries.get(id) === entry) this.#entries.delete(id)
    })
  }

  /** Rises also over restarts, so that no id stands for two events. */
  #nextId(): number {
    this.#lastId = Math.max(this.#lastId + 1, Math.floor(this.#parts.clock.now()) * 1_000)
    return this.#lastId
  }

  /** A view as of now; all who ask at the same time share one look. */
  async view<A extends About>(about: A, queue: string, key: string): Promise<Views[A]> {
    return (await this.#entry(about, queue, key).watch.view()) as Views[A]
  }

  /** Begins to stream a view, from an event on that the reader says to have, if it can be told. */
  open(
    about: About,
    queue: string,
    key: string,
    lastEventId: number | undefined,
    connection: Connection,
  ): EventStream {
    const { streamsMax } = this.#parts
    this.sessionsChanged()
    if (this.size >= streamsMax) {
      throw new Refused(
        503,
        'ERR_TOO_MANY_STREAMS',
        `cannot watch: ${streamsMax} pages do so already, which is as many as may; close one`,
        { 'retry-after': '10' },
      )
    }
    const { watch, forgetting } = this.#entry(about, queue, key)
    forgetting?.stop()
    const stream = new EventStream(connection, (ended) => {
      this.#streams.delete(ended)
      watch.leave(ended)
    })
    if (stream.isEnded) return stream
    this.#streams.add(stream)
    watch.join(stream, lastEventId)
    return stream
  }

  /** Ends the streams of sessions that are over. */
  sessionsChanged(): void {
    for (const stream of [...this.#streams]) stream.check()
  }

  /** Tells everybody who watches anything what somebody did. */
  audit(audit: Audit): void {
    for (const { watch } of this.#entries.values()) watch.audit(audit)
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { watch, forgetting } of entries) {
      forgetting?.stop()
      watch.close()
    }
  }
}
