import {
  type Clock,
  checkFunction,
  checkNumber,
  checkObject,
  safeListener,
  systemClock,
} from '@sluice/core'
import { type AddAfterOptions, type AddOptions, type Resync, resync } from 'sluice'
import { ChangedKeys } from './changed-keys.ts'
import type { InformerLike } from './informer.ts'
import { keepWatching } from './keep-watching.ts'
import { KeyAdder } from './key-adder.ts'
import { type KubernetesObjectLike, type Mapping, objectKey } from './mapping.ts'

/** Options of {@link enqueueOn}. */
export interface EnqueueOptions {
  /** How often every object in the informer's cache is added, spread over that time. Default: never. */
  readonly resyncMs?: number | undefined
  /**
   * Called with errors of the watch, of the mapping and of resyncs, and of adds that are repeated. Default:
   * the console. Keys that the queue refuses are reported by the queue, as of every `addSoon`.
   */
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
  /**
   * Ends it: the informer is stopped, its callbacks are removed, and the keys of the objects that it has
   * reported are in the queue, which may be closed then.
   */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

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
    addMany?(items: readonly string[], options?: AddOptions): Promise<unknown>
    addAfter?(item: string, ms: number, options?: AddAfterOptions): Promise<unknown>
  },
  mapping: Mapping<T> = objectKey,
  options: EnqueueOptions = {},
): Enqueueing {
  checkObject('informer', informer)
  for (const name of ['on', 'off', 'start', 'stop'] as const) {
    checkFunction(`informer.${name}`, informer[name])
  }
  checkObject('queue', queue)
  checkFunction('mapping', mapping)
  checkObject('options', options, members)
  const { clock = systemClock, onError, resyncMs } = options
  checkObject('clock', clock)
  if (onError !== undefined) checkFunction('onError', onError)
  const report = safeListener(
    'the onError of enqueueOn',
    onError ?? ((error) => console.error('sluice: informer failed:', error)),
  )
  if (resyncMs !== undefined) {
    checkNumber('resyncMs', resyncMs, { min: 1 })
    checkFunction('queue.addAfter', queue.addAfter)
    checkFunction('informer.list', informer.list)
  }
  checkFunction('queue.addSoon', queue.addSoon)

  const keys = new ChangedKeys(mapping, report)
  const adder = new KeyAdder(queue, clock, report)
  const changed = (object: T): void => adder.add(keys.changed(object))
  const deleted = (object: T): void => adder.add(keys.deleted(object))
  informer.on('add', changed)
  informer.on('update', changed)
  informer.on('delete', deleted)
  const watch = keepWatching(informer, clock, report)

  const { addAfter } = queue
  let syncing: Resync | undefined
  if (resyncMs !== undefined && addAfter !== undefined) {
    syncing = resync<string>({
      queue: { addAfter: addAfter.bind(queue) },
      list: () => new Set(informer.list().flatMap((object) => keys.of(object))),
      everyMs: resyncMs,
      onError: report,
      clock,
    })
  }

  async function stop(): Promise<void> {
    informer.off('add', changed)
    informer.off('update', changed)
    informer.off('delete', deleted)
    await Promise.all([adder.stop(), syncing?.stop(), watch.stop()])
  }
  return { synced: watch.synced, stop, [Symbol.asyncDispose]: stop }
}
