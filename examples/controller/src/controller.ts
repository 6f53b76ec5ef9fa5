import { setTimeout as wait } from 'node:timers/promises'
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  type HandlerResult,
  lowPriority,
  type Queue,
} from 'sluice'
import type { Deployments } from './deployments.ts'
import type { Machines } from './machines.ts'

/** How often everything is looked at although nothing has changed. */
const resyncMs = 60_000

/** A running controller. */
export interface Controller {
  readonly queue: Queue<string>
  /** Resolves soon after there is nothing left to do now; for those who show it, and for tests. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** Brings machines in line with deployments, from now on. */
export async function startController(
  deployments: Deployments,
  machines: Machines,
): Promise<Controller> {
  const queue = createRateLimitingQueue<string>({
    name: 'deployments',
    limiter: exponential({ baseMs: 5, maxMs: 1_000 }),
  })

  // First watch, then list: what changes in between is seen by both, and that is one key.
  const unwatch = deployments.watch((name) => queue.addSoon(name))
  const known = new Set([...deployments.list().map(({ name }) => name), ...machines.names()])
  await queue.addMany([...known], { priority: lowPriority })

  const worker = createWorker<string>({
    queue,
    concurrency: 4,
    handler: async (name) => await reconcile(name),
  })

  /** One step from the machines that there are to those that are wanted. */
  async function reconcile(name: string): Promise<HandlerResult> {
    const wanted = deployments.get(name)?.machines ?? 0
    const running = machines.count(name)
    if (running < wanted) await machines.start(name)
    if (running > wanted) await machines.stop(name)
    if (Math.abs(wanted - running) > 1) return { requeueAfterMs: 1 }
    return wanted === 0 ? undefined : { requeueAfterMs: resyncMs }
  }

  /** No run is pending but those of the resync, nor is one that brings the next step delayed. */
  async function isSettled(): Promise<boolean> {
    const { ready, backoff, processing, dirty } = await queue.inspect.counts()
    if (ready + backoff + processing + dirty > 0) return false
    const names = [...deployments.list().map(({ name }) => name), ...machines.names()]
    return names.every((name) => machines.count(name) === (deployments.get(name)?.machines ?? 0))
  }

  return {
    queue,
    async settled() {
      while (!(await isSettled())) await wait(10)
    },
    async stop() {
      unwatch()
      await worker.stop()
      await queue.close()
    },
  }
}
