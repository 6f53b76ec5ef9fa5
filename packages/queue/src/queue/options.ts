import type { Clock, Dedupe, Driver, KeyOf, Limiter } from '@sluice/core'
import {
  bucketsOf,
  checkBoolean,
  checkFunction,
  checkLimiter,
  checkNumber,
  checkObject,
  checkOneOf,
  checkQueueName,
  crashesMaxDefault,
  delayMsMax,
  describeValue,
  failuresExpireMsDefault,
  type JsonSafe,
  leaseMsDefault,
  leaseMsMax,
  leaseMsMin,
  SluiceTypeError,
  timeoutMsDefault,
} from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import type { Logger } from '../driver/logger.ts'
import type { LastError } from '../inspect/inspect.ts'
import type { StandardSchema } from './schema.ts'

/** How a queue is made. */
export interface QueueOptions<T> {
  /**
   * The name of the queue in its store and in the metrics. Required with a driver that is durable
   * or shared; a queue in memory needs none, and then has no metrics.
   */
  readonly name?: string | undefined
  /** The store of the keys. Default: in memory, for this queue alone. */
  readonly driver?: Driver | undefined
  /**
   * How an add and a delayed add of one key are merged. Default `client-go`: both runs stay
   * pending.
   */
  readonly dedupe?: Dedupe | undefined
  /**
   * How long a lease lasts. It is renewed automatically at a third of that.
   * Default 30 s, and `Infinity` (no lease) in memory.
   */
  readonly leaseMs?: number | undefined
  /** The key of an item, where the item is more than its key. Default: the item, or its canonical JSON. */
  readonly keyOf?: KeyOf<T> | undefined
  /**
   * Checks items when they are added and when they are handed out. Items are stored as they were added; its
   * output is handed out. Default: any JSON value is taken.
   */
  readonly schema?: StandardSchema<T> | undefined
  /** The clock for the queue and its driver. Default: the store's own. */
  readonly clock?: Clock | undefined
  /**
   * Changes the error of a failed run before it is stored, for example to remove secrets. The
   * result is cut to size and stored instead; it must be an object, and no promise. Default: the error is
   * stored as it is, cut to size.
   */
  readonly redactError?: ((error: LastError) => LastError) | undefined
  /**
   * Whether the stack of an error is stored, too. Stacks may contain more than a store should have.
   * Default false.
   */
  readonly errorStacks?: boolean | undefined
  /** Called with errors that no call can return. Must not throw. Default: the `logger` is called. */
  readonly onError?: ((error: unknown) => void) | undefined
  /**
   * Where the queue and its workers write what no `onError` is called with: the console, or a logger
   * of pino, winston or the like. Default: stderr, one line a minute for each error code.
   */
  readonly logger?: Logger | undefined
  /** How long one operation on the store may take. Default 30 s, in real time. */
  readonly timeoutMs?: number | undefined
  /**
   * How many keys a worker may claim ahead of its free slots. Default `auto`: as many as its
   * handlers will start within two round trips of a claim, by the latest measurements, and one more
   * for each slot, 1,000 at most; none for slow handlers. With 0, a priority and a newer item
   * always count until a handler is free. In memory the default is 0.
   */
  readonly prefetch?: number | 'auto' | undefined
  /**
   * How many keys may be pending before adds of new ones reject with `ERR_QUEUE_FULL`. Each process refuses by
   * its own limit. Default: no limit.
   */
  readonly maxPending?: number | undefined
  /**
   * How long after its last failure the failure count of an idle key is kept. If processes have different
   * times, the shortest counts. Default 24 h.
   */
  readonly failuresExpireMs?: number | undefined
  /**
   * How often in a row the lease of a key may expire, with its worker gone, before the key is
   * parked. A run that ends (done, retry, park) sets the count to 0; a release does not. Default 5.
   */
  readonly maxCrashes?: number | undefined
  /**
   * After how long without work this queue object stops calling its store and listening to it, in
   * milliseconds, at least 1,000. It goes on with the next call in this process that adds, takes or
   * finishes a key, with `wake()`, and when a key is due that was pending before. Until then it does
   * not see keys that other processes add. For databases that stop while they are not used, or that
   * bill each call. Default `Infinity`: never.
   */
  readonly quietAfterMs?: number | undefined
  /** Whether a worker, or a call that waits, keeps the process alive. Default true. */
  readonly ref?: boolean | undefined
  /**
   * Decides how long failed keys wait. Default: `defaultControllerLimiter()` on a rate-limiting
   * queue; on the others `retry` waits 5 ms, doubling up to 1000 s.
   */
  readonly limiter?: Limiter<T> | undefined
}

/**
 * Makes a compiler error, with the reason in it, of items that could not be stored as JSON. A generic class or
 * function takes `QueueOptions<T> & JsonChecked<T>` and passes that on: its callers are checked.
 */
export type JsonChecked<T> = [T] extends [JsonSafe<T>]
  ? unknown
  : { readonly 'items must be JSON': JsonSafe<T> }

/** The names of all options, for the check that refuses unknown ones. */
const queueOptionNames: readonly string[] = [
  'name',
  'driver',
  'dedupe',
  'leaseMs',
  'keyOf',
  'schema',
  'clock',
  'redactError',
  'errorStacks',
  'onError',
  'logger',
  'timeoutMs',
  'prefetch',
  'maxPending',
  'failuresExpireMs',
  'maxCrashes',
  'quietAfterMs',
  'ref',
  'limiter',
]

/** How many keys may be claimed ahead of demand. */
const prefetchMax = 1_000

/** The shortest time without work after which a queue object may be quiet. */
export const quietAfterMsMin = 1_000

/** The longest timeout of an operation. */
const timeoutMsMax = 600_000

/** Options after checking, with every default filled in. */
export interface CheckedOptions<T> {
  readonly name: string
  readonly driver: Driver
  readonly dedupe: Dedupe
  readonly leaseMs: number
  readonly keyOf: KeyOf<T> | undefined
  readonly schema: StandardSchema<T> | undefined
  readonly clock: Clock | undefined
  readonly redactError: ((error: LastError) => LastError) | undefined
  readonly errorStacks: boolean
  readonly onError: ((error: unknown) => void) | undefined
  readonly logger: Logger | undefined
  readonly timeoutMs: number
  readonly prefetch: number | 'auto'
  readonly maxPending: number | undefined
  readonly failuresExpireMs: number
  readonly maxCrashes: number
  readonly quietAfterMs: number
  readonly ref: boolean
  readonly limiter: Limiter<T> | undefined
}

function checkPrefetch(prefetch: number | 'auto'): number | 'auto' {
  if (prefetch === 'auto') return prefetch
  if (typeof prefetch === 'string') {
    const message = `must be 'auto' or a number up to ${prefetchMax}; got ${describeValue(prefetch)}`
    throw new SluiceTypeError('prefetch', message)
  }
  return checkNumber('prefetch', prefetch, { min: 0, max: prefetchMax, integer: true })
}

function checkQuietAfterMs(ms: number): number {
  return ms === Infinity
    ? ms
    : checkNumber('quietAfterMs', ms, { min: quietAfterMsMin, max: delayMsMax })
}

function optional<V, C>(value: V | undefined, check: (value: V) => C): C | undefined {
  return value === undefined ? undefined : check(value)
}

/** Throws where a name is needed and none is given: without one, keys could not be found again. */
function givenName(name: string | undefined, driver: Driver): string {
  if (name !== undefined) return name
  throw new SluiceTypeError(
    'name',
    `must be given: the keys of a queue on the ${driver.name} driver are found in the store by its name`,
  )
}

/** Accepts any object with a driver's verbs and capabilities. */
function checkDriver(driver: Driver): Driver {
  const { add, claim, capabilities } = Object(driver) as Driver
  if (
    typeof add !== 'function' ||
    typeof claim !== 'function' ||
    typeof capabilities !== 'object' ||
    capabilities === null
  ) {
    const got = describeValue(driver)
    throw new SluiceTypeError('driver', `must be a driver, such as memoryDriver(); got ${got}`)
  }
  return driver
}

/**
 * Accepts a limiter whose buckets the store can have. One with others would be noticed by a run that fails: it could
 * not be retried, waited for the end of its lease, and was parked after a few of these, as if workers had vanished.
 */
export function checkLimiterOf<T>(limiter: Limiter<T>, driver: Driver, queue: string): Limiter<T> {
  const { plan } = checkLimiter('limiter', limiter)
  if (plan === undefined || driver.capabilities.sharedBuckets) return limiter
  for (const { name } of bucketsOf(plan)) {
    if (name === '' || name === `queue:${queue}`) continue
    throw new SluiceTypeError(
      'limiter',
      `must not name its bucket ('${name}') where queues share none, as in a Redis cluster without oneSlot`,
    )
  }
  return limiter
}

/** Accepts any object with a logger's methods. */
function checkLogger(logger: Logger): Logger {
  checkObject('logger', logger)
  for (const level of ['info', 'warn', 'error'] as const) {
    checkFunction(`logger.${level}`, logger[level])
  }
  return logger
}

/** Accepts any object with a clock's methods. */
export function checkClock(clock: Clock): Clock {
  checkObject('clock', clock)
  for (const verb of ['now', 'monotonicMs', 'startTimer', 'startTicker'] as const) {
    checkFunction(`clock.${verb}`, clock[verb])
  }
  return clock
}

/**
 * The options of a factory: without an argument, those of a queue in memory. `undefined` is not the
 * same: a configuration that was not found must not become a queue in memory.
 */
export function givenOptions<Options extends object>(args: readonly [Options?]): Options {
  return (args.length === 0 ? {} : args[0]) as Options
}

/** Checks the options that every queue takes, and fills in the defaults. */
export function checkQueueOptions<T>(options: QueueOptions<T>): CheckedOptions<T> {
  checkObject('options', options, queueOptionNames)
  const {
    dedupe = 'client-go',
    timeoutMs = timeoutMsDefault,
    prefetch,
    failuresExpireMs = failuresExpireMsDefault,
    maxCrashes = crashesMaxDefault,
    quietAfterMs = Infinity,
    ref = true,
  } = options
  const driver = optional(options.driver, checkDriver) ?? memoryDriver()
  const { durable, shared } = driver.capabilities
  const isLocal = !durable && !shared
  const { name = isLocal ? '' : undefined } = options
  const leaseMs =
    options.leaseMs === Infinity && isLocal
      ? Infinity
      : optional(options.leaseMs, (ms) =>
          checkNumber('leaseMs', ms, { min: leaseMsMin, max: leaseMsMax }),
        )
  const checkedName = checkQueueName('name', givenName(name, driver), { empty: isLocal })
  return {
    name: checkedName,
    driver,
    dedupe: checkOneOf('dedupe', dedupe, ['client-go', 'earliest']),
    leaseMs: leaseMs ?? (isLocal ? Infinity : leaseMsDefault),
    keyOf: optional(options.keyOf, (keyOf) => checkFunction('keyOf', keyOf)),
    schema: optional(options.schema, (schema) => {
      checkFunction('schema.~standard.validate', schema?.['~standard']?.validate)
      return schema
    }),
    clock: optional(options.clock, checkClock),
    redactError: optional(options.redactError, (redact) => checkFunction('redactError', redact)),
    errorStacks: checkBoolean(
      'errorStacks',
      options.errorStacks === undefined ? false : options.errorStacks,
    ),
    onError: optional(options.onError, (onError) => checkFunction('onError', onError)),
    logger: optional(options.logger, checkLogger),
    timeoutMs: checkNumber('timeoutMs', timeoutMs, { min: 1, max: timeoutMsMax }),
    prefetch: checkPrefetch(
      prefetch === undefined ? (driver.direct === undefined ? 'auto' : 0) : prefetch,
    ),
    maxPending: optional(options.maxPending, (n) =>
      checkNumber('maxPending', n, { min: 1, integer: true }),
    ),
    failuresExpireMs: checkNumber('failuresExpireMs', failuresExpireMs, {
      min: 0,
      max: delayMsMax,
    }),
    maxCrashes: checkNumber('maxCrashes', maxCrashes, { min: 1, integer: true }),
    quietAfterMs: checkQuietAfterMs(quietAfterMs),
    ref: checkBoolean('ref', ref),
    limiter: optional(options.limiter, (limiter) => checkLimiterOf(limiter, driver, checkedName)),
  }
}
