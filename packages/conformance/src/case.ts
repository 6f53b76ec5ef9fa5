import type { Awaitable, Capabilities, Driver } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import type { Scene } from './scene/scene.ts'

/** A transaction of the store under test, begun by the subject for the suite. */
export interface SubjectTransaction {
  /** The argument of the driver's `transact`: a database, a client. */
  readonly handle: unknown
  /** Makes everything done in the transaction visible to others. */
  commit(): Awaitable<void>
  /** Undoes everything done in the transaction. */
  rollback(): Awaitable<void>
}

/** Another process that has opened the store under test. */
export interface OtherProcess {
  /**
   * A driver on the same store whose verbs the other process carries out, not opened. It uses the
   * clock that `open` is given. `transact` and `direct` may be missing.
   */
  readonly driver: Driver
  /** Ends the process without warning, as SIGKILL does, and resolves when it has ended. */
  kill(): Awaitable<void>
}

/**
 * The subject of a case: a driver on its own store, and hooks for processes, power cuts and
 * transactions. Each call of `create` returns a new one; no two subjects share a store.
 */
export interface Subject {
  /** A driver that has not been opened. */
  readonly driver: Driver
  /** The clock that the suite gives to the driver. Only the suite steps it. */
  readonly clock: FakeClock
  /**
   * A driver on the same store as a later process would create it, not opened. Required of `durable`
   * drivers. The suite has closed the driver before it.
   */
  readonly restart?: () => Awaitable<Driver>
  /**
   * Another driver on the same store at the same time, as another process would create it, not
   * opened. Required where `peers` is declared.
   */
  readonly peer?: () => Awaitable<Driver>
  /**
   * Starts a process that opens the same store. `forkDriver` of
   * `@sluice/conformance/other-process` starts one. Optional: without it, promises about several
   * processes are not tested.
   */
  readonly otherProcess?: () => Awaitable<OtherProcess>
  /**
   * Cuts the power of the store's machine: every process that has opened the store ends, and the
   * store loses all writes that it has not made durable. Resolves to a driver on that store, not
   * opened. The drivers from before the cut are still closed; that may fail. Optional: without it,
   * promises about power cuts are not tested.
   */
  readonly cutPower?: () => Awaitable<Driver>
  /** Begins a transaction on the store. Required where `transact` is declared. */
  readonly begin?: () => Awaitable<SubjectTransaction>
  /** Removes the store. Every driver on it is closed by then. */
  readonly dispose?: () => Awaitable<void>
}

/** Returns a new {@link Subject} with its own empty store. */
export type CreateSubject = () => Awaitable<Subject>

/**
 * The needs of a case: capabilities, under the names of {@link Capabilities}, optional verbs, and
 * hooks of the subject.
 */
export interface Needs {
  readonly durable?: true
  readonly shared?: true
  /** `strict` includes `per-producer`; a custom order satisfies neither. */
  readonly order?: 'strict' | 'per-producer'
  readonly time?: Capabilities['time']
  readonly tokens?: 'store'
  readonly sharedBuckets?: true
  readonly watch?: true
  readonly peers?: true
  readonly operate?: true
  readonly queues?: true
  readonly workers?: true
  readonly history?: true
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

/** The needs that the subject has to meet, not the driver. */
const hooks = ['otherProcess', 'cutPower'] as const

/** One promise, as data: its id, its sentence, and the test of it. */
export interface Case {
  /** The promise as a dotted name, such as `done.dirty.requeues`. Stable: ids are API. */
  readonly id: string
  /** The promise as a sentence. */
  readonly title: string
  /** The capabilities without which the promise has no meaning. */
  readonly needs?: Needs
  /** The least timeout of the case, if it takes longer than others. */
  readonly timeoutMs?: number
  /** Throws if the promise is broken. */
  run(scene: Scene): Promise<void>
}

/** The reason why the driver cannot run the case; `undefined` if it can. */
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
      // Checked by `missingHook`: these are hooks of the subject.
    } else if (need === 'order') {
      const { order } = able
      const isMet = order === 'strict' || order === needs.order
      if (!isMet) return `the driver declares order: '${order}'`
    } else if (need === 'time') {
      if (able.time !== needs.time) return `the driver declares time: '${able.time}'`
    } else if (need === 'tokens') {
      if (able.tokens !== needs.tokens) return `the driver declares tokens: '${able.tokens}'`
    } else if (!able[need satisfies keyof Capabilities]) {
      return `the driver declares ${need}: false`
    }
  }
  return undefined
}

/** The hook that the case needs and the subject lacks; `undefined` if nothing is missing. */
export function missingHook(needs: Needs | undefined, subject: Subject): string | undefined {
  const missing = hooks.find((hook) => needs?.[hook] && subject[hook] === undefined)
  return missing && `the subject gives no ${missing}`
}
