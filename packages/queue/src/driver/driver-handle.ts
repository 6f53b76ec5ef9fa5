import {
  type Awaitable,
  type Clock,
  contractVersion,
  type Driver,
  isPromise,
  SluiceError,
  systemClock,
} from '@sluice/core'
import { notInTime } from '../environment/timing.ts'
import { OncePerMinute } from './once-per-minute.ts'
import { RetryGate } from './retry-gate.ts'

/** A queue object, as the others of its name in this process know it. */
export interface PeerQueue {
  readonly claims: { giveBackExpired?(): void }
  readonly helds: { active(): readonly { readonly token: number }[] }
  readonly lifecycle: { check(): void }
  readonly soon: { onRoom(): void }
  /** Keys that are being given back without having run, by their tokens. */
  readonly returning: ReadonlyMap<number, unknown>
}

/** A user of a driver, such as a queue object. */
export interface HandleUser {
  readonly name: string
  /**
   * Something may have become claimable. `releases`: keys may not be started any more, so that those
   * that were claimed ahead are given back.
   */
  wake(releases?: boolean): void
  /** A call that the driver makes automatically has failed. */
  report(error: unknown): void
  /** Whether it has to be notified of changes of other processes now. Absent: never. */
  readonly needsNews?: boolean
  /** The queue object that makes the calls. Absent: there is none, and no key is held. */
  readonly owner?: PeerQueue
}

/**
 * An answer that is lost while the store is opened says nothing of the call that is waiting for it:
 * that one was never sent.
 */
function openingError(error: unknown): unknown {
  if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) return error
  return new SluiceError('ERR_STORE', `cannot open the store: ${error.message}`, {
    cause: error,
    retryable: true,
  })
}

/**
 * The version of what copies of this package in one process call of each other: the members of
 * {@link DriverHandle} with its gate, of {@link HandleUser} and of {@link PeerQueue}. Rises when one of them changes.
 */
const handleVersion = 1

const registry: unique symbol = Symbol.for('sluice.driver-handles')

interface RegisteredHandle {
  readonly version: number
  readonly handle: DriverHandle
}

/**
 * One handle per driver object, whatever the number of queues, of their layers, and of copies of this package:
 * a bundler, or two versions, make copies. With a handle each, the first to be left would close the driver
 * for the queues of the others, and adds would not wake them.
 */
function handles(): WeakMap<Driver, RegisteredHandle> {
  const shared = globalThis as { [registry]?: WeakMap<Driver, RegisteredHandle> }
  shared[registry] ??= new WeakMap()
  return shared[registry]
}

/**
 * A driver as the queues of this process share it: opened by the first that needs it, closed after
 * the last has left, following one clock, and waking every queue object of a name when one of them
 * changes something.
 */
export class DriverHandle {
  readonly driver: Driver
  /** Spaces automatic attempts while the store is in trouble. */
  readonly gate: RetryGate = new RetryGate()
  /** Errors of its queue objects that were printed, since nothing listens for them. */
  readonly printed: OncePerMinute = new OncePerMinute()
  #clock: Clock | undefined
  #state: 'closed' | 'opening' | 'open' | 'closing' = 'closed'
  #change: Promise<void> | undefined
  /** Why the store could not be opened, until it is. */
  #failure: unknown
  /** The watch of the store that goes on; `end` once it has begun. */
  #watch: { end?: () => Awaitable<void> } | undefined
  /** Whether the store has refused to be watched: since it was opened, no other attempt can help. */
  #isWatchRefused = false
  readonly #users = new Map<string, Set<HandleUser>>()
  #userCount = 0

  private constructor(driver: Driver) {
    this.driver = driver
  }

  /** The handle of a driver, which follows `clock` if one is given. */
  static of(driver: Driver, clock: Clock | undefined): DriverHandle {
    if (driver.contractVersion !== contractVersion) {
      throw new SluiceError(
        'ERR_CONTRACT_VERSION',
        `cannot use the driver ${driver.name}: it was written for version ` +
          `${String(driver.contractVersion)} of the driver contract, and this is version ` +
          `${contractVersion}; install versions that belong together`,
      )
    }
    const registered = handles().get(driver)
    if (registered !== undefined && registered.version !== handleVersion) {
      throw new SluiceError(
        'ERR_CONTRACT_VERSION',
        `cannot use the driver ${driver.name}: queues of another version of sluice in this process use the ` +
          'same object; install one version, or make a driver for each',
      )
    }
    const handle = registered?.handle ?? new DriverHandle(driver)
    if (registered === undefined) handles().set(driver, { version: handleVersion, handle })
    if (clock !== undefined) handle.follow(clock)
    return handle
  }

  /** Follows a clock; throws if it follows another one. */
  follow(clock: Clock): void {
    if (this.#clock === clock) return
    if (this.#clock !== undefined || this.#state !== 'closed') {
      throw new SluiceError(
        'ERR_CLOCK_MISMATCH',
        `cannot use another clock with the driver ${this.driver.name}: its queues share one; give ` +
          'all of them the same clock, or give it to the first',
      )
    }
    this.#clock = clock
  }

  /** The clock for everything that happens in this process. */
  get clock(): Clock {
    return this.#clock ?? systemClock
  }

  /** Whether the clock was given to a queue, so that the store follows it, too. */
  get hasGivenClock(): boolean {
    return this.#clock !== undefined
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Counts a user in; returns all users of its name. */
  join(user: HandleUser): ReadonlySet<HandleUser> {
    const users = this.#users.get(user.name) ?? new Set()
    users.add(user)
    this.#users.set(user.name, users)
    this.#userCount += 1
    return users
  }

  /** Makes the driver usable; at once if it can be, or if it is already. */
  open(): Awaitable<void> {
    if (this.#state === 'open') return undefined
    if (this.#state === 'opening') return this.#change
    if (this.#state === 'closing') {
      // An error of closing is one of the queue that closed it.
      // After that, its last user may have left: nothing would close it once more.
      return this.#change
        ?.catch(() => undefined)
        .then(() => (this.#userCount > 0 ? this.open() : undefined))
    }
    this.#state = 'opening'
    let opening: Awaitable<void>
    try {
      opening = this.driver.open(this.#clock === undefined ? {} : { clock: this.#clock })
    } catch (error) {
      this.#failed(error)
    }
    if (!isPromise(opening)) return this.#opened()
    this.#change = opening.then(
      () => this.#opened(),
      (error: unknown) => this.#failed(error),
    )
    return this.#change
  }

  #failed(error: unknown): never {
    this.#state = 'closed'
    this.#failure = openingError(error)
    throw this.#failure
  }

  /** The error of a call that was given up: if the store is not open, it says why not, as far as that is known. */
  notInTime(aim: string): SluiceError {
    return notInTime(aim, undefined, this.#failure)
  }

  #opened(): Awaitable<void> {
    this.#state = 'open'
    this.#failure = undefined
    this.#isWatchRefused = false
    if (this.#isNewsNeeded()) void this.#beginWatch(() => undefined)
    return undefined
  }

  #isNewsNeeded(): boolean {
    for (const users of this.#users.values()) {
      for (const { needsNews = false } of users) if (needsNews) return true
    }
    return false
  }

  get isWatching(): boolean {
    return this.#watch !== undefined
  }

  /** Watching is a hint; a queue works without it, so that no call waits for it. */
  async #beginWatch(onBegun: () => void): Promise<void> {
    const watch: { end?: () => Awaitable<void> } = {}
    this.#watch = watch
    try {
      const end = await this.driver.watch?.((name) => this.wake(name))
      if (this.#watch !== watch) {
        await end?.()
        return
      }
      if (end !== undefined) watch.end = end
      onBegun()
    } catch (error) {
      // The next waiter tries again, if that may help.
      if (this.#watch === watch) {
        this.#watch = undefined
        this.#isWatchRefused = !SluiceError.is(error) || !error.retryable
      }
      this.#report(error)
    }
  }

  async #endWatch(): Promise<void> {
    const watch = this.#watch
    this.#watch = undefined
    await watch?.end?.()
  }

  /** Ends the watch if every user is quiet: a connection that listens keeps a database awake. */
  endNeedlessWatch(): void {
    if (this.#watch === undefined || this.#isNewsNeeded()) return
    this.#endWatch().catch((error: unknown) => this.#report(error))
  }

  /** A user is not quiet any more: watches, and has every queue look for what was missed. */
  watchAgain(): void {
    if (this.#state !== 'open' || this.#watch !== undefined || this.#isWatchRefused) return
    void this.#beginWatch(() => this.wake(undefined))
  }

  #report(error: unknown): void {
    for (const users of this.#users.values()) {
      for (const user of users) user.report(error)
    }
  }

  /**
   * Wakes the queue objects of a name, or all of them; except one, if it knows already. `releases`:
   * see {@link HandleUser.wake}.
   */
  wake(name: string | undefined, except?: HandleUser, releases = false): void {
    if (name === undefined) {
      for (const users of this.#users.values()) {
        for (const user of users) user.wake()
      }
      return
    }
    const users = this.#users.get(name)
    if (users === undefined) return
    for (const user of users) {
      if (user !== except) user.wake(releases)
    }
  }

  /** Counts a user out, and closes the driver after the last one. */
  async leave(user: HandleUser): Promise<void> {
    const users = this.#users.get(user.name)
    if (users?.delete(user) !== true) return
    if (users.size === 0) this.#users.delete(user.name)
    this.#userCount -= 1
    if (this.#userCount > 0) {
      this.endNeedlessWatch()
      return
    }
    if (this.#state === 'opening') await this.#change?.catch(() => undefined)
    if (this.#userCount > 0) return
    if (this.#state === 'closed') this.#clock = undefined
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#change = this.#close()
    await this.#change
  }

  async #close(): Promise<void> {
    try {
      await this.#endWatch().finally(() => this.driver.close())
    } finally {
      this.#state = 'closed'
      if (this.#userCount === 0) this.#clock = undefined
    }
  }
}
