import type { Driver, RunRequest, RunResult, SluiceEvent } from '@sluice/core'
import { secondsOf } from '../provider/seconds.ts'
import type { Election } from '../recorder/election.ts'
import type { Moment } from './ledger-entries.ts'
import { QueueLedger } from './queue-ledger.ts'
import type { QueueMeters } from './queue-meters.ts'

/** Whether only this process uses the store. */
export function isAlone({ capabilities }: Driver): boolean {
  return !capabilities.shared && !capabilities.durable
}

/** One queue of one store, with the queue objects of this process that use it. */
export interface StoreRecord {
  readonly driver: Driver
  readonly ledger: QueueLedger
  /** The store's time minus the monotonic time of this process, once an answer has contained it. */
  offsetMs: number | undefined
  /** The election of the exporter of the store's state. */
  election: Election | undefined
  /** Whether it was read once: before its first use a driver is not open. */
  wasRead: boolean
}

/** The same instant by the time of a store. */
export function inStore({ driver, offsetMs }: StoreRecord, { now, monotonicMs }: Moment): Moment {
  const storeNow = offsetMs === undefined ? now + (driver.ahead ?? 0) : monotonicMs + offsetMs
  return { now: storeNow, monotonicMs }
}

/** The record of one queue name. */
export class QueueRecord {
  readonly meters: QueueMeters
  readonly stores: Map<Driver, StoreRecord> = new Map()
  /** Queue objects that are not closed, and whether they are shut down. */
  readonly #holders = new Map<string, { readonly driver: Driver; isShutDown: boolean }>()
  readonly #concurrency = new Map<string, number>()
  /** Whether the metrics were read since the last queue object was closed. */
  wasReadClosed = false
  #isDepthRead = false
  readonly #runs = new WeakMap<SluiceEvent, number>()

  constructor(meters: QueueMeters) {
    this.meters = meters
  }

  /** The record of a store; created if it is new. */
  store(driver: Driver): StoreRecord {
    let store = this.stores.get(driver)
    if (store === undefined) {
      if (isAlone(driver)) this.meters.countDepth()
      else this.#isDepthRead = true
      const ledger = new QueueLedger(this.meters, isAlone(driver))
      store = { driver, ledger, offsetMs: undefined, election: undefined, wasRead: false }
      this.stores.set(driver, store)
    }
    return store
  }

  /** A queue object has published an event. */
  seen(holder: string, driver: Driver): void {
    if (this.#holders.has(holder)) return
    this.#holders.set(holder, { driver, isShutDown: false })
    this.wasReadClosed = false
  }

  shutDown(holder: string): void {
    const state = this.#holders.get(holder)
    if (state !== undefined) state.isShutDown = true
  }

  /** A queue object was closed; the record of its store is dropped with the last one. */
  closed(holder: string, driver: Driver): void {
    const store = this.stores.get(driver)
    store?.ledger.closed(holder)
    this.#holders.delete(holder)
    if (this.#concurrency.delete(holder)) this.#setConcurrency()
    if (this.isInUse(driver)) return
    store?.ledger.purged()
    // Another process takes over at once. If the store cannot be informed, the registration expires.
    store?.election?.leave().catch(() => undefined)
    this.stores.delete(driver)
    if (this.#holders.size > 0) return
    this.meters.unfinished.set(0)
    this.meters.longest.set(0)
  }

  /** Whether the depth is that of a store shared with other processes. */
  get isDepthRead(): boolean {
    return this.#isDepthRead
  }

  /** Whether every queue object is closed. */
  get isClosed(): boolean {
    return this.#holders.size === 0
  }

  /** Whether a queue object of this process uses the store. */
  isInUse(driver: Driver): boolean {
    for (const holder of this.#holders.values()) if (holder.driver === driver) return true
    return false
  }

  /** Whether the refreshed gauges still change. */
  get isTicking(): boolean {
    for (const { isShutDown } of this.#holders.values()) if (!isShutDown) return true
    return false
  }

  /** Counts in the keys whose delays have ended. */
  promote(moment: Moment): void {
    for (const store of this.stores.values()) store.ledger.promote(inStore(store, moment))
  }

  /** Sets the refreshed gauges. */
  refresh(moment: Moment): void {
    this.promote(moment)
    let unfinishedMs = 0
    let longestMs = 0
    for (const store of this.stores.values()) {
      for (const since of store.ledger.startTimes()) {
        const ms = moment.monotonicMs - since
        unfinishedMs += ms
        longestMs = Math.max(longestMs, ms)
      }
    }
    this.meters.unfinished.set(secondsOf(unfinishedMs))
    this.meters.longest.set(secondsOf(longestMs))
  }

  workerStarted(holder: string, concurrency: number): void {
    this.#concurrency.set(holder, (this.#concurrency.get(holder) ?? 0) + concurrency)
    this.#setConcurrency()
  }

  workerStopped(holder: string, concurrency: number): void {
    const left = (this.#concurrency.get(holder) ?? 0) - concurrency
    if (left > 0 || this.#holders.has(holder)) this.#concurrency.set(holder, Math.max(0, left))
    else this.#concurrency.delete(holder)
    this.#setConcurrency()
  }

  /** Whether a worker runs on this queue object, or has: a claim of it may be answered after its stop. */
  hasWorker(holder: string): boolean {
    return this.#concurrency.has(holder)
  }

  #setConcurrency(): void {
    let all = 0
    for (const concurrency of this.#concurrency.values()) all += concurrency
    this.meters.setConcurrency(all)
  }

  runStarted(event: SluiceEvent, concurrency: number, monotonicMs: number): void {
    // A worker that started before this recorder, unless its queue is closed by now.
    const { holder } = event
    if (this.#holders.has(holder) && !this.#concurrency.has(holder)) {
      this.workerStarted(holder, concurrency)
    }
    this.#ledgerOf(event)?.runStarted((event.request as RunRequest).token, monotonicMs)
    this.#runs.set(event, monotonicMs)
    this.meters.runStarted()
  }

  #ledgerOf({ source }: SluiceEvent): QueueLedger | undefined {
    return this.stores.get(source as Driver)?.ledger
  }

  runEnded(event: SluiceEvent, result: RunResult, monotonicMs: number): void {
    this.#ledgerOf(event)?.runEnded((event.request as RunRequest).token, monotonicMs)
    const since = this.#runs.get(event)
    if (since === undefined) return
    this.#runs.delete(event)
    this.meters.runEnded(result, monotonicMs - since)
  }
}
