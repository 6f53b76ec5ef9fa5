// This folder is the live views: one read per tick for all readers, sent as server-sent events.

import type { Timer } from '@sluice/core'
import type { Clock } from 'sluice'
import { HttpError } from '../http/http-error.ts'
import type { About, Audit, Views } from '../wire.ts'
import { type Connection, EventStream } from './event-stream.ts'
import { Watch } from './watch.ts'

/** How long a view is kept after its last reader has left, in milliseconds. */
const keepMs = 30_000

/** How many views are kept. */
const viewsMax = 200

/** The parts that live views are built from. */
export interface LiveParts {
  readonly clock: Clock
  readonly tickMs: number
  readonly streamsMax: number
  /**
   * The function that reads a view: of a queue, or of every queue without one. `detail` is the
   * key, or else the range of the history.
   */
  readonly readerOf: (
    about: About,
    queue: string | undefined,
    detail: string,
  ) => () => Promise<Views[About]>
  readonly report: (error: unknown) => void
}

/** A view that has readers, or had some recently. */
interface Entry {
  readonly watch: Watch<Views[About]>
  expiry: Timer | undefined
}

/** Every view that has readers; each is read once for all of them. */
export class LiveViews {
  readonly #parts: LiveParts
  /** In the order of the last use. */
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

  #entry(about: About, queue: string | undefined, detail: string): Entry {
    if (this.#isClosed) throw new HttpError(503, 'ERR_CLOSED', 'this dashboard was closed')
    const id = JSON.stringify([about, queue, detail])
    const known = this.#entries.get(id)
    this.#entries.delete(id)
    this.#makeRoom()
    const entry = known ?? { watch: this.#watch(id, about, queue, detail), expiry: undefined }
    this.#entries.set(id, entry)
    if (entry.watch.size === 0) this.#expireLater(id, entry)
    return entry
  }

  #watch(id: string, about: About, queue: string | undefined, detail: string): Watch<Views[About]> {
    const { clock, tickMs, readerOf, report } = this.#parts
    return new Watch<Views[About]>(readerOf(about, queue, detail), {
      clock,
      tickMs,
      report,
      nextId: () => this.#nextId(),
      onIdle: () => {
        const entry = this.#entries.get(id)
        if (entry !== undefined) this.#expireLater(id, entry)
      },
    })
  }

  /** For one more view. Before it is there: without readers yet, it could be the one that has to go. */
  #makeRoom(): void {
    for (const [id, { watch, expiry }] of this.#entries) {
      if (this.#entries.size < viewsMax) return
      if (watch.size > 0) continue
      expiry?.stop()
      this.#entries.delete(id)
    }
  }

  #expireLater(id: string, entry: Entry): void {
    entry.expiry?.stop()
    entry.expiry = this.#parts.clock.startTimer(keepMs, () => {
      if (entry.watch.size === 0 && this.#entries.get(id) === entry) this.#entries.delete(id)
    })
  }

  /** Increases across restarts too, so that no id is used for two events. */
  #nextId(): number {
    this.#lastId = Math.max(this.#lastId + 1, Math.floor(this.#parts.clock.now()) * 1_000)
    return this.#lastId
  }

  /** The current view; concurrent requests share one read. */
  async view<A extends About>(
    about: A,
    queue: string | undefined,
    detail: string,
  ): Promise<Views[A]> {
    return (await this.#entry(about, queue, detail).watch.view()) as Views[A]
  }

  /** Why no further stream can be opened now; `undefined` if one can. */
  get refusal(): HttpError | undefined {
    const { streamsMax } = this.#parts
    this.sessionsChanged()
    if (this.size < streamsMax) return undefined
    return new HttpError(
      503,
      'ERR_TOO_MANY_STREAMS',
      `the limit of ${streamsMax} open pages is reached (option streamsMax): close one`,
      { 'retry-after': '10' },
    )
  }

  /** Starts streaming a view, after the last event that the reader has if that event is still kept. */
  open(
    about: About,
    queue: string | undefined,
    detail: string,
    lastEventId: number,
    connection: Connection,
  ): EventStream {
    const { refusal } = this
    if (refusal !== undefined) throw refusal
    const { watch, expiry } = this.#entry(about, queue, detail)
    const stream = new EventStream(connection, (ended) => {
      this.#streams.delete(ended)
      watch.leave(ended)
    })
    // A reader that has left already keeps no view.
    if (stream.isEnded) return stream
    expiry?.stop()
    this.#streams.add(stream)
    watch.join(stream, lastEventId)
    return stream
  }

  /** Ends the streams of visitors who are no longer signed in. */
  sessionsChanged(): void {
    for (const stream of [...this.#streams]) stream.check()
  }

  /** Sends an audit event to every reader of every view. */
  announce(audit: Audit): void {
    for (const { watch } of this.#entries.values()) watch.announce(audit)
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { watch, expiry } of entries) {
      expiry?.stop()
      watch.close()
    }
  }
}
