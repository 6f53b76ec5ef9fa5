import { type Clock, SluiceError } from '@sluice/core'
import type { InformerLike } from './informer.ts'

/** How long to wait before a watch that failed is begun again, at first and at most, in milliseconds. */
const restartMs = { first: 500, longest: 30_000 }

/** How long a watch must have been without an error for the next wait to be short, in milliseconds. */
const steadyMs = 60_000

/** An informer that is started again after each error. */
export interface KeptWatch {
  /** Resolves to true after the first list, and to false if `stop` was called earlier. */
  readonly synced: Promise<boolean>
  stop(): Promise<void>
}

/**
 * Calls `failed` with the errors of what the client does when a watch has ended, and returns how to undo that.
 * The client awaits none of it: an error of the credentials for the next watch would end the process.
 */
function catchAfterWatch(informer: object, failed: (error: unknown) => void): () => void {
  const client = informer as { doneHandler?: (error: unknown) => Promise<void> }
  const { doneHandler } = client
  if (doneHandler === undefined) return () => {}
  client.doneHandler = (error) => doneHandler.call(informer, error).catch(failed)
  return () => {
    client.doneHandler = doneHandler
  }
}

/** Starts an informer, and starts it again after each error, with growing pauses. */
export function keepWatching<T>(
  informer: InformerLike<T>,
  clock: Clock,
  report: (error: unknown) => void,
): KeptWatch {
  let isStopped = false
  let failures = 0
  let startedAt = -Infinity
  let restart: ReturnType<Clock['startTimer']> | undefined
  let starting: Promise<void> = Promise.resolve()
  let resolveSynced: (isSynced: boolean) => void = () => {}
  const synced = new Promise<boolean>((resolve) => {
    resolveSynced = resolve
  })

  function start(): void {
    startedAt = clock.monotonicMs()
    starting = informer.start().then(() => {
      // It also resolves after a list or a watch that failed: then `failed` was called.
      if (restart === undefined) resolveSynced(true)
    }, failed)
  }

  function failed(error?: unknown): void {
    if (isStopped) return
    report(error ?? new SluiceError('ERR_STORE', 'the watch of an informer ended with an error'))
    if (restart !== undefined) return
    if (clock.monotonicMs() - startedAt > steadyMs) failures = 0
    const ms = Math.min(restartMs.first * 2 ** failures, restartMs.longest)
    failures += 1
    restart = clock.startTimer(ms, () => {
      restart = undefined
      start()
    })
    // A controller whose watch is down must not end for lack of anything to do.
    restart.ref()
  }

  informer.on('error', failed)
  const undoCatch = catchAfterWatch(informer, failed)
  start()
  return {
    synced,
    async stop() {
      isStopped = true
      resolveSynced(false)
      restart?.stop()
      informer.off('error', failed)
      undoCatch()
      await informer.stop()
      // A watch that was being opened meanwhile is open after all.
      void starting.then(() => informer.stop())
    },
  }
}
