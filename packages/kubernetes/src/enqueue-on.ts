import {
  type Clock,
  checkFunction,
  checkNumber,
  checkObject,
  SluiceError,
  systemClock,
} from '@sluice/core'
import { type AddAfterOptions, type AddOptions, type Resync, resync } from 'sluice'
import type { InformerLike } from './informer.ts'
import { type KubernetesObjectLike, type Mapping, objectKey } from './mapping.ts'

/** Options of {@link enqueueOn}. */
export interface EnqueueOptions {
  /** How often every object in the informer's cache is added, spread over that time. Default: never. */
  readonly resyncMs?: number | undefined
  /** Called with errors of the watch, of the mapping and of the queue. Default: the console. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
}

/** Keys that are being added. */
export interface Enqueueing {
  /**
   * Resolves to true when the cache of the informer holds all objects, after its first list, and to false
   * if `stop` was called earlier. Start workers after it: until then, an object that is missing in the
   * cache may exist.
   */
  readonly synced: Promise<boolean>
  /** Ends it: the informer is stopped, and its callbacks are removed. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** How long to wait before a watch that failed is begun again, at first and at most, in milliseconds. */
const restartMs = { first: 500, longest: 30_000 }

/** How long a watch must have been without an error for the next wait to be short, in milliseconds. */
const steadyMs = 60_000

const members = ['resyncMs', 'onError', 'clock']

/**
 * Starts an informer, and adds the keys of each object that is added, changed or deleted: those of its
 * new version and of the one before, so that both owners of an object that changes its owner are added.
 *
 * An informer of `@kubernetes/client-node` ends after an error; it is started again, with growing
 * pauses. What changed meanwhile is found by its next list.
 *
 * Two informers may add keys to one queue: one of the objects themselves, one with the mapping
 * `ownerKeys`.
 */
export function enqueueOn<T extends KubernetesObjectLike>(
  informer: InformerLike<T>,
  queue: {
    addSoon(item: string, options?: AddOptions): void
    addAfter?(item: string, ms: number, options?: AddAfterOptions): Promise<unknown>
  },
  mapping: Mapping<T> = objectKey,
  options: EnqueueOptions = {},
): Enqueueing {
  checkObject('queue', queue)
  checkFunction('mapping', mapping)
  checkObject('options', options, members)
  const { clock = systemClock, resyncMs } = options
  const onError = options.onError ?? ((error) => console.error('sluice: informer failed:', error))
  if (resyncMs !== undefined) {
    checkNumber('resyncMs', resyncMs, { min: 1 })
    checkFunction('queue.addAfter', queue.addAfter)
  }
  let isStopped = false
  let failures = 0

  function report(error: unknown): void {
    try {
      onError(error)
    } catch {
      // An error of onError must end neither the informer nor the changes that follow.
    }
  }

  let startedAt = -Infinity
  let restart: ReturnType<Clock['startTimer']> | undefined

  function keysOf(object: T): readonly string[] {
    try {
      const keys = mapping(object)
      return typeof keys === 'string' ? [keys] : (keys ?? [])
    } catch (error) {
      report(error)
      return []
    }
  }

  /** The keys of the last version of each object, unless the only one is its own. */
  const before = new Map<string, readonly string[]>()

  // A change concerns the keys of both versions: the owner that lost an object must learn of it too.
  const changed = (object: T): void => {
    const name = objectKey(object) ?? ''
    const keys = keysOf(object)
    for (const key of new Set([...(before.get(name) ?? []), ...keys])) queue.addSoon(key)
    if (keys.length === 1 && keys[0] === name) before.delete(name)
    else before.set(name, keys)
  }

  const deleted = (object: T): void => {
    changed(object)
    before.delete(objectKey(object) ?? '')
  }

  let starting: Promise<void> = Promise.resolve()
  let resolveSynced: (isSynced: boolean) => void = () => {}
  const synced = new Promise<boolean>((resolve) => {
    resolveSynced = resolve
  })

  function start(): void {
    startedAt = clock.monotonicMs()
    starting = informer.start().then(() => {
      // It also resolves after a list that failed: then it has called `failed`.
      if (restart === undefined) resolveSynced(true)
    }, failed)
  }

  const failed = (error?: unknown): void => {
    if (isStopped) return
    report(error ?? new SluiceError('ERR_STORE', 'the watch of an informer ended with an error'))
    if (restart !== undefined) return
    if (clock.monotonicMs() - startedAt > steadyMs) failures = 0
    const ms = Math.min(restartMs.first * 2 ** failures, restartMs.longest)
    failures += 1
    restart = clock.startTimer(ms, () => {
      restart = undefined
      if (!isStopped) start()
    })
    // A controller whose watch is down must not end for lack of anything to do.
    restart.ref()
  }

  informer.on('add', changed)
  informer.on('update', changed)
  informer.on('delete', deleted)
  informer.on('error', failed)
  start()
  const { addAfter } = queue
  let syncing: Resync | undefined
  if (resyncMs !== undefined && addAfter !== undefined) {
    syncing = resync<string>({
      queue: { addAfter: addAfter.bind(queue) },
      list: () => new Set(informer.list().flatMap(keysOf)),
      everyMs: resyncMs,
      onError,
      clock,
    })
  }

  async function stop(): Promise<void> {
    isStopped = true
    resolveSynced(false)
    restart?.stop()
    informer.off('add', changed)
    informer.off('update', changed)
    informer.off('delete', deleted)
    informer.off('error', failed)
    await syncing?.stop()
    await informer.stop()
    // A watch that was being opened meanwhile is open after all.
    void starting.then(() => informer.stop())
  }
  return { synced, stop, [Symbol.asyncDispose]: stop }
}
