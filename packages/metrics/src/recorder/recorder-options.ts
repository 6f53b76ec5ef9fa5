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
import type { MetricsProvider } from '../provider/provider.ts'
import { reportTo } from '../report-to.ts'

/** Options of a recorder. */
export interface RecorderOptions {
  /** Records only queues on this driver. Default: all drivers of the process. */
  readonly driver?: Driver | undefined
  /**
   * Records only these queues, from the beginning. Default: every queue with a name, from its first
   * event on.
   */
  readonly queues?: readonly string[] | undefined
  /** The clock of the queues, if they were given one. Default: the system's. */
  readonly clock?: Clock | undefined
  /**
   * Whether depth, delayed items and the oldest age are read from the store. Default true. If
   * false, the depth of a store that several processes share is unknown, and stays 0.
   */
  readonly readsStore?: boolean | undefined
  /** The maximum number of keys of each state to count in a reading. Default 100,000. */
  readonly cap?: number | undefined
  /** How long a reading may take before the old values are shown. Default 5 s. */
  readonly timeoutMs?: number | undefined
  /** Called with errors of recording, which do not affect the queues. Default: printed once a minute. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Options of {@link createRecorder}. */
export interface CustomRecorderOptions extends RecorderOptions {
  /** Creates the metrics of each queue. */
  readonly provider: MetricsProvider
  /**
   * The name of the exporter. Processes with the same exporter elect the one that exports the state
   * of the store. Default `custom`.
   */
  readonly exporter?: string | undefined
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

type Defaulted = Omit<CustomRecorderOptions, 'driver' | 'queues'>

/** Options after checking. */
export type CheckedRecorderOptions = Pick<CustomRecorderOptions, 'driver' | 'queues'> & {
  readonly [Name in keyof Defaulted]-?: Exclude<Defaulted[Name], undefined>
}

function checkQueues(queues: unknown): readonly string[] {
  if (!Array.isArray(queues)) throw new SluiceTypeError('queues', 'must be an array of names')
  return queues.map((name, index) => checkQueueName(`queues[${index}]`, name))
}

/** Checks the options of a recorder, and fills in the defaults. */
export function checkRecorderOptions(options: CustomRecorderOptions): CheckedRecorderOptions {
  checkObject('options', options, [...recorderOptionNames, 'provider', 'exporter'])
  const { provider, driver, queues, clock, readsStore, cap, timeoutMs, onError, exporter } = options
  checkObject('provider', provider)
  if (driver !== undefined) checkObject('driver', driver)
  if (onError !== undefined) checkFunction('onError', onError)
  return {
    provider,
    clock: clock ?? systemClock,
    readsStore: checkBoolean('readsStore', readsStore ?? true),
    cap: checkNumber('cap', cap ?? 100_000, { min: 1, integer: true }),
    timeoutMs: checkNumber('timeoutMs', timeoutMs ?? 5_000, { above: 0 }),
    onError: reportTo(onError),
    exporter: checkString('exporter', exporter ?? 'custom', { empty: false, bytesMax: 40 }),
    driver,
    queues: queues === undefined ? undefined : checkQueues(queues),
  }
}
