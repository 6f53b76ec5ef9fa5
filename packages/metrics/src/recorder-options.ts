import {
  type Clock,
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkQueueName,
  checkString,
  type Driver,
  SluiceTypeError,
  systemClock,
} from '@sluice/core'
import type { MetricsProvider } from './provider.ts'

/** What is recorded, and how. */
export interface RecorderOptions {
  /** Only what happens on this driver is recorded. Default: on every driver of the process. */
  readonly driver?: Driver
  /**
   * Only these queues are recorded, and they are there from the beginning. Default: every queue that
   * has a name, from the first thing that happens on it.
   */
  readonly queues?: readonly string[]
  /** The clock of the queues, if they were given one. */
  readonly clock?: Clock
  /**
   * Whether depth, delayed items and the oldest age are read from the store. Default true. Without,
   * the depth of a store that several processes share is not known, and stays 0.
   */
  readonly readsStore?: boolean
  /** How many keys of each state are counted at the most in a reading. Default 100,000. */
  readonly cap?: number
  /** How long a reading may take before the old values are shown. Default 5 s. */
  readonly timeoutMs?: number
  /**
   * Told of what goes wrong while recording. Default: it is dropped, as the work must go on and
   * there is nobody to tell.
   */
  readonly onError?: (error: unknown) => void
}

/** How a recorder of one's own is made. */
export interface CustomRecorderOptions extends RecorderOptions {
  /** Makes the metrics of each queue. */
  readonly provider: MetricsProvider
  /**
   * Names the way out. Processes that export the same way elect the one that shows the state of the
   * store. Default `custom`.
   */
  readonly exporter?: string
}

/** The names of the options that all adapters share. */
export const recorderOptionNames: readonly (keyof RecorderOptions)[] = [
  'driver',
  'queues',
  'clock',
  'readsStore',
  'cap',
  'timeoutMs',
  'onError',
]

/** Options after checking. */
export type CheckedRecorderOptions = Required<Omit<CustomRecorderOptions, 'driver' | 'queues'>> &
  Pick<CustomRecorderOptions, 'driver' | 'queues'>

function checkQueues(queues: unknown): readonly string[] {
  if (!Array.isArray(queues)) throw new SluiceTypeError('queues', 'must be an array of names')
  return queues.map((name, index) => checkQueueName(`queues[${index}]`, name))
}

/** Checks the options of a recorder, and fills in what was left out. */
export function checkRecorderOptions(options: CustomRecorderOptions): CheckedRecorderOptions {
  checkObject('options', options, [...recorderOptionNames, 'provider', 'exporter'])
  const { provider, driver, queues, clock, readsStore, cap, timeoutMs, onError, exporter } = options
  checkObject('provider', provider)
  if (driver !== undefined) checkObject('driver', driver)
  return {
    provider,
    clock: clock ?? systemClock,
    readsStore: checkBoolean('readsStore', readsStore ?? true),
    cap: checkNumber('cap', cap ?? 100_000, { min: 1, integer: true }),
    timeoutMs: checkNumber('timeoutMs', timeoutMs ?? 5_000, { above: 0 }),
    onError: checkFunction('onError', onError ?? (() => undefined)),
    exporter: checkString('exporter', exporter ?? 'custom', { empty: false, bytesMax: 40 }),
    ...(driver === undefined ? {} : { driver }),
    ...(queues === undefined ? {} : { queues: checkQueues(queues) }),
  }
}
