import type { Timer } from '@sluice/core'
import { type Clock, SluiceError, systemClock } from 'sluice'
import { refusalOf } from '../http/http-error.ts'
import type { Refusal } from '../wire.ts'
import { deltaOf, type Parts, partsOf } from './delta.ts'
import { EventLog, eventBytes } from './event-log.ts'
import type { EventStream } from './event-stream.ts'

/** Reading may take at most one part in this many of the time. */
const dutyParts = 10

/** The longest interval without an event on a stream, in milliseconds. */
const silenceMsMax = 15_000

/** The longest wait between two attempts to reach a store, in milliseconds. */
const retryMsMax = 10_000

/** How long a read may take before the store counts as unreachable, in milliseconds. */
const readMsMaxDefault = 10_000

/** The parts that a watch is built from. */
export interface WatchParts {
  readonly clock: Clock
  readonly tickMs: number
  /** How long a read may take, in milliseconds of real time. */
  readonly readMsMax?: number
  /** Returns increasing ids, across all watches and across restarts. */
  readonly nextId: () => number
  /** Called when the last reader has left. */
  readonly onIdle: () => void
  readonly report: (error: unknown) => void
}

interface Trouble extends Refusal {
  readonly since: number
  readonly tries: number
}

/**
 * One view of the store, read once per tick for all of its readers, and only while it has readers.
 */
export class Watch<View extends object & { readonly at: number }> {
  readonly #read: () => Promise<View>
  readonly #parts: WatchParts
  readonly #streams: Set<EventStream> = new Set()
  readonly #log: EventLog = new EventLog()
  #seen: Parts | undefined
  /** When it was seen, on the monotonic clock. */
  #seenAt = -Infinity
  #snapshot: { readonly parts: Parts; readonly id: number; readonly bytes: Uint8Array } | undefined
  #reading: Promise<View> | undefined
  /** An action came after the last read began, which may not show it. */
  #isOutdated = false
  #latest: View | undefined
  #tookMs = 0
  #readAt = -Infinity
  #timer: Timer | undefined
  #isTicking = false
  #silence: Timer | undefined
  #trouble: Trouble | undefined

  constructor(read: () => Promise<View>, parts: WatchParts) {
    this.#read = read
    this.#parts = parts
  }

  get size(): number {
    return this.#streams.size
  }

  /** The current view, or a recent one if a read takes long; not from before an action. */
  async view(): Promise<View> {
    const sinceMs = this.#parts.clock.monotonicMs() - this.#readAt
    if (this.#latest !== undefined && sinceMs < dutyParts * this.#tookMs) return this.#latest
    if (this.#isOutdated) await this.#reading?.catch(() => {})
    return await this.#readOnce()
  }

  /** Concurrent callers share one read. */
  #readOnce(): Promise<View> {
    this.#reading ??= this.#readInTime().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readInTime(): Promise<View> {
    const { clock, readMsMax = readMsMaxDefault } = this.#parts
    const startedAt = clock.monotonicMs()
    this.#latest = undefined
    this.#isOutdated = false
    const reading = this.#read()
    try {
      const view = await inTime(reading, readMsMax)
      if (!this.#isOutdated) this.#latest = view
      return view
    } finally {
      const readAt = clock.monotonicMs()
      this.#readAt = readAt
      this.#tookMs = readAt - startedAt
      // One that is given up may fail later, or go on, and keep the store busy.
      reading.catch(() => {
        if (this.#readAt === readAt) this.#hasFailed()
      })
    }
  }

  /** The last read has failed: it waited for a store that does nothing, which must not delay the next one. */
  #hasFailed(): void {
    this.#tookMs = 0
    if (this.#timer !== undefined && this.#trouble !== undefined) {
      this.#schedule(this.#retryMs(this.#trouble))
    }
  }

  /** Starts sending to a stream: the events after the last one it has, or a snapshot. */
  join(stream: EventStream, lastEventId: number): void {
    const { clock } = this.#parts
    this.#streams.add(stream)
    const now = clock.monotonicMs()
    const missed = this.#log.after(lastEventId)
    if (missed !== undefined && this.#seen !== undefined) {
      stream.needsSnapshot = false
      for (const { bytes } of missed) stream.send(bytes, now)
    } else if (this.#seen !== undefined && (this.#isFresh(now) || this.#trouble !== undefined)) {
      this.#sendSnapshot(stream, now)
    }
    if (this.#trouble !== undefined) stream.send(this.#troubleEvent(this.#trouble), now)
    // A send has removed the stream if its visitor is no longer signed in.
    if (this.#streams.size === 0) return
    if (this.#timer === undefined && !this.#isTicking) this.#schedule(0)
    this.#silence ??= clock.startTimer(silenceMsMax, () => this.#breakSilence())
  }

  #isFresh(now: number): boolean {
    return now - this.#seenAt < Math.max(2 * this.#parts.tickMs, dutyParts * this.#tookMs * 2)
  }

  leave(stream: EventStream): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return
    this.#rest()
    this.#parts.onIdle()
  }

  #rest(): void {
    this.#timer?.stop()
    this.#timer = undefined
    this.#silence?.stop()
    this.#silence = undefined
  }

  /** Reads again before the next tick, after an action. */
  refresh(): void {
    if (this.#timer !== undefined && this.#trouble === undefined) this.#schedule(0)
  }

  #schedule(ms: number): void {
    if (this.#streams.size === 0) return
    const { clock } = this.#parts
    const sinceMs = clock.monotonicMs() - this.#readAt
    const restMs = Math.max(ms, (dutyParts - 1) * this.#tookMs - sinceMs)
    this.#timer?.stop()
    this.#timer = clock.startTimer(restMs, () => {
      this.#timer = undefined
      // It does not reject: errors are sent to the readers.
      void this.#tick()
    })
  }

  async #tick(): Promise<void> {
    this.#isTicking = true
    let waitMs = this.#parts.tickMs
    try {
      this.#publish(await this.#readOnce())
    } catch (error) {
      waitMs = this.#troubled(error)
    } finally {
      this.#isTicking = false
    }
    this.#schedule(this.#isOutdated && this.#trouble === undefined ? 0 : waitMs)
  }

  #publish(view: View): void {
    const { clock } = this.#parts
    const before = this.#seen
    const parts = partsOf(view)
    this.#seen = parts
    this.#seenAt = clock.monotonicMs()
    if (before === undefined || this.#trouble !== undefined) {
      this.#trouble = undefined
      for (const stream of this.#streams) stream.needsSnapshot = true
      const id = this.#parts.nextId()
      this.#log.add({ id, bytes: eventBytes('snapshot', view, id) })
    } else {
      const delta = deltaOf(before, parts)
      if (delta === undefined) this.#send(eventBytes('ping', { at: view.at }))
      else this.#broadcast('delta', delta)
    }
    for (const stream of this.#streams) {
      if (stream.needsSnapshot) this.#sendSnapshot(stream, this.#seenAt)
    }
  }

  /** Records a failed read; returns how long to wait before the next. */
  #troubled(error: unknown): number {
    const { clock, report } = this.#parts
    const { code, message } = refusalOf(error)
    if (code === 'ERR_INTERNAL') report(error)
    const { since = clock.monotonicMs(), tries = 0 } = this.#trouble ?? {}
    this.#trouble = { code, message, since, tries: tries + 1 }
    this.#send(this.#troubleEvent(this.#trouble))
    return this.#retryMs(this.#trouble)
  }

  /** How long to wait after a failed read. */
  #retryMs({ tries }: Trouble): number {
    const { tickMs } = this.#parts
    return Math.min(tickMs * 2 ** (tries - 1), Math.max(tickMs, retryMsMax))
  }

  #troubleEvent({ code, message, since }: Trouble): Uint8Array {
    const { clock } = this.#parts
    const at = clock.now()
    return eventBytes('trouble', { code, message, at, sinceMs: clock.monotonicMs() - since })
  }

  /** Sends an event to every reader, and keeps it for readers that reconnect. */
  #broadcast(event: string, data: object): void {
    const id = this.#parts.nextId()
    const bytes = eventBytes(event, data, id)
    this.#log.add({ id, bytes })
    this.#send(bytes)
  }

  /** Sends an audit event to every reader. */
  announce(data: object): void {
    this.#latest = undefined
    this.#isOutdated = true
    if (this.#seen === undefined) return
    this.#broadcast('audit', data)
    this.refresh()
  }

  #send(bytes: Uint8Array): void {
    const now = this.#parts.clock.monotonicMs()
    this.#silence?.reset(silenceMsMax)
    for (const stream of this.#streams) {
      // A reader that waits for a snapshot cannot apply events that come before it.
      if (!stream.needsSnapshot || this.#trouble !== undefined) stream.send(bytes, now)
    }
  }

  #sendSnapshot(stream: EventStream, now: number): void {
    const parts = this.#seen
    const id = this.#log.lastId
    if (parts === undefined || id === undefined) return
    if (this.#snapshot?.parts !== parts || this.#snapshot.id !== id) {
      this.#snapshot = { parts, id, bytes: eventBytes('snapshot', parts.view, id) }
    }
    stream.needsSnapshot = false
    stream.send(this.#snapshot.bytes, now)
  }

  #breakSilence(): void {
    // A ping means that the store was read.
    if (this.#trouble !== undefined) {
      this.#send(this.#troubleEvent(this.#trouble))
      return
    }
    const at = (this.#seen?.view as View | undefined)?.at ?? this.#parts.clock.now()
    this.#send(eventBytes('ping', { at }))
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of [...this.#streams]) stream.end()
  }
}

/** Waits in real time, since sockets and disks do not follow the given clock. */
function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = systemClock.startTimer(ms, () => {
      const message = `cannot read the store: it did not answer within ${ms} ms`
      reject(new SluiceError('ERR_TIMEOUT', message, { retryable: true }))
    })
    answer.then(resolve, reject).finally(() => timer.stop())
  })
}
