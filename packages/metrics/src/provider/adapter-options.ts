import { checkBoolean, checkObject, checkString } from '@sluice/core'
import { type RecorderOptions, recorderOptionNames } from '../recorder/recorder-options.ts'
import { type Buckets, boundsOf, reconcileBuckets } from './buckets.ts'
import { type MetricId, metricIds, metricTable } from './names.ts'
import type { NamingOptions } from './table-provider.ts'

/** The options that the Prometheus and the OpenTelemetry adapters share. */
export interface AdapterOptions extends RecorderOptions, NamingOptions {
  /**
   * The bounds of the histograms of a queue. Default `tidy`: 19 from 1 ms to 1,000 s. Presets of the
   * originals: `controller-runtime` (12 from 10 ns to 1,000 s) and `kubernetes` (10, to 10 s).
   */
  readonly buckets?: Buckets | undefined
}

/** Options of an adapter after checking, separated by consumer. */
export interface SplitOptions {
  readonly recorder: RecorderOptions
  readonly naming: NamingOptions
  readonly ids: readonly MetricId[]
  bounds(id: MetricId): readonly number[]
}

/** Checks and separates the shared options; `own` are the names of the adapter's own options. */
export function splitOptions(options: AdapterOptions, own: readonly string[]): SplitOptions {
  const naming = ['buckets', 'controllers', 'controllerRuntime']
  checkObject('options', options, [...recorderOptionNames, ...naming, ...own])
  const { buckets = 'tidy', controllers, controllerRuntime } = options
  if (controllers !== undefined) {
    checkObject('controllers', controllers)
    for (const [name, controller] of Object.entries(controllers)) {
      checkString(`controllers[${JSON.stringify(name)}]`, controller)
    }
  }
  if (controllerRuntime !== undefined) checkBoolean('controllerRuntime', controllerRuntime)
  const queueBounds = boundsOf(buckets)
  const isWanted = (id: MetricId): boolean =>
    controllerRuntime !== false || metricTable[id].family !== 'controller-runtime'
  return {
    recorder: Object.fromEntries(recorderOptionNames.map((name) => [name, options[name]])),
    naming: { controllers, controllerRuntime },
    ids: metricIds.filter(isWanted),
    bounds: (id) => (id === 'reconcileTime' ? reconcileBuckets : queueBounds),
  }
}
