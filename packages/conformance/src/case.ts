import type { Awaitable, Capabilities, Driver } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import type { Scene } from './scene/scene.ts'

/** A transaction of the store under examination, begun by the subject on the suite's behalf. */
export interface SubjectTransaction {
  /** What the driver's `transact` takes: a database, a client. */
  readonly handle: unknown
  /** Makes everything done in the transaction visible to others. */
  commit(): Awaitable<void>
  /** Undoes everything done in the transaction. */
  rollback(): Awaitable<void>
}

/** A process that has opened the store under examination, other than the one that the suite runs in. */
export interface OtherProcess {
  /**
   * A driver on the same store whose verbs the other process carries out, not opened. It obeys the
   * clock that `open` is given. `transact` and `direct` may be missing.
   */
  readonly driver: Driver
  /** Ends the process without warning, as SIGKILL does, and resolves when it has ended. */
  kill(): Awaitable<void>
}

/**
 * What is examined: a driver on a store of its own, and the ways to it that a program has.
 *
 * Whoever binds the suite makes one with each call of `create`; no two share a store.
 */
export interface Subject {
  /** A driver that has not been opened. */
  readonly driver: Driver
  /** The clock that the suite hands to the driver. Nothing but the suite moves it. */
  readonly clock: FakeClock
  /**
   * A driver on the same store as a process started later would make it, not opened. Required of
   * `durable` drivers. The suite has closed the one before it.
   */
  readonly restart?: () => Awaitable<Driver>
  /**
   * One more driver on the same store, at the same time, as another process would make it, not
   * opened. Required where `peers` is declared.
   */
  readonly peer?: () => Awaitable<Driver>
  /**
   * Starts a process that opens the same store. `forkDriver` of
   * `@sluice/conformance/other-process` makes one. Optional: without it, promises about several
   * processes are not asked.
   */
  readonly otherProcess?: () => Awaitable<OtherProcess>
  /**
   * Cuts the power of the machine that the store is on: every process that has opened the store
   * ends, and the store loses what it has not made durable. Resolves to a driver on that store, not
   * opened. The drivers from before the cut are still closed; that may fail. Optional: without it,
   * promises about power cuts are not asked.
   */
  readonly cutPower?: () => Awaitable<Driver>
  /** Begins a transaction on the store. Required where `transact` is declared. */
  readonly begin?: () => Awaitable<SubjectTransaction>
  /** Lets go of the store and removes it. Every driver made of it is closed by then. */
  readonly dispose?: () => Awaitable<void>
}

/** Makes a {@link Subject} with an empty store of its own. */
export type CreateSubject = () => Awaitable<Subject>

/**
 * What a case can be examined with only. The words are those of {@link Capabilities}; what is not
 * a capability is an optional verb that is there or is not.
 */
export interface Needs {
  readonly durable?: true
  readonly shared?: true
  /** `strict` gives `per-producer` too; an order of the caller's own gives neither. */
  readonly order?: 'strict' | 'per-producer'
  readonly time?: Capabilities['time']
  readonly watch?: true
  readonly peers?: true
  readonly operate?: true
  readonly queues?: true
  readonly workers?: true
  readonly buckets?: true
  readonly transact?: true
  /** Only with a driver that has the optional verb `adopt`. */
  readonly adopt?: true
  /** Only with a driver that has the optional verbs of `transfer`. */
  readonly transfer?: true
  /** Only with a subject that can start another process. */
  readonly otherProcess?: true
  /** Only with a subject that can cut the power. */
  readonly cutPower?: true
}

/** The needs that the subject meets, and not the driver. */
const hooks = ['otherProcess', 'cutPower'] as const

/** One promise, as data: what it is called, what it says, and how to see whether it is kept. */
export interface Case {
  /** The promise as a dotted name, such as `done.dirty.requeues`. Stable: ids are API. */
  readonly id: string
  /** The promise as a sentence. */
  readonly title: string
  /** What a driver must be able to do for the promise to mean anything. */
  readonly needs?: Needs
  /** How long it may take where nobody says otherwise, if that is longer than usual. */
  readonly timeoutMs?: number
  /** Throws if the promise is broken. */
  run(scene: Scene): Promise<void>
}

/** What a driver can do, in the words of {@link Needs}; `undefined` if nothing is missing. */
export function missingNeed(needs: Needs | undefined, subject: Subject): string | undefined {
  if (needs === undefined) return undefined
  const { driver } = subject
  const able = driver.capabilities
  for (const need of Object.keys(needs) as (keyof Needs)[]) {
    if (need === 'adopt') {
      if (driver.adopt === undefined) return 'the driver has no verb adopt'
    } else if (need === 'transfer') {
      if (driver.transfer === undefined) return 'the driver has no verbs to move keys'
    } else if (need === 'otherProcess' || need === 'cutPower') {
      // Asked for by `missingHook`: the driver is not to blame.
    } else if (need === 'order') {
      const { order } = able
      const isMet = order === 'strict' || order === needs.order
      if (!isMet) return `the driver declares order: '${order}'`
    } else if (need === 'time') {
      if (able.time !== needs.time) return `the driver declares time: '${able.time}'`
    } else if (!able[need satisfies keyof Capabilities]) {
      return `the driver declares ${need}: false`
    }
  }
  return undefined
}

/** What the subject does not offer that the case needs; `undefined` if nothing is missing. */
export function missingHook(needs: Needs | undefined, subject: Subject): string | undefined {
  const missing = hooks.find((hook) => needs?.[hook] && subject[hook] === undefined)
  return missing && `the subject gives no ${missing}`
}
