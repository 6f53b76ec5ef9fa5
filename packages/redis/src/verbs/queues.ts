import { SluiceError } from '@sluice/core'
import { type BucketRow, type WorkerInfo, type WorkerRow, workerMsMax } from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { number, numbers } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** The names of all queues that have keys, are paused, or have a worker on record. */
export async function queues(store: Store): Promise<readonly string[]> {
  const names = await store.registeredQueues()
  const found = await Promise.all(names.map((name) => isThere(store, name)))
  await store.forgetQueues(names.filter((_, index) => !found[index]))
  return names.filter((_, index) => found[index])
}

async function isThere(store: Store, name: string): Promise<boolean> {
  try {
    const reply = await store.run('overview', name, [String(workerMsMax)])
    return reply[verbStart] === 1
  } catch (error) {
    // A queue of a newer layout costs the others nothing.
    if (SluiceError.is(error, 'ERR_SCHEMA_NEWER')) return true
    throw error
  }
}

/** The workers that have ticked on a queue within `withinMs`. */
export async function workers(
  store: Store,
  queue: string,
  withinMs: number,
): Promise<readonly WorkerRow[]> {
  const reply = await store.run('overview', queue, [String(withinMs)])
  return workersOf(reply)
}

/** How many leases of a queue expired more than a minute ago, and the workers seen within `withinMs`. */
export async function liveliness(
  store: Store,
  queue: string,
  withinMs: number,
): Promise<{ readonly late: number; readonly workers: readonly WorkerRow[] }> {
  const reply = await store.run('overview', queue, [String(withinMs)])
  return { late: number(reply[verbStart + 1]), workers: workersOf(reply) }
}

function workersOf(reply: readonly Reply[]): readonly WorkerRow[] {
  const registrations = reply[verbStart + 2] as readonly string[]
  return registrations.map((value) => {
    const [, startedAt, seenAt, info] = /^(\S+) (\S+) (.*)$/s.exec(value) ?? []
    return {
      ...(JSON.parse(info ?? '{}') as WorkerInfo),
      startedAt: number(startedAt),
      seenAt: number(seenAt),
    }
  })
}

/** All buckets. */
export async function buckets(store: Store): Promise<readonly BucketRow[]> {
  const queueNames = await store.registeredQueues()
  const keys = new Set(queueNames.map((name) => store.layout.of(name).buckets))
  if (store.layout.isShared) keys.add(store.layout.of('').buckets)
  const replies = await Promise.all([...keys].map((key) => store.read(key, ['HGETALL', key])))
  const rows: BucketRow[] = []
  for (const reply of replies) {
    const cells = reply as readonly string[]
    for (let at = 0; at < cells.length; at += 2) {
      const name = cells[at]!
      if (name === '') continue
      const [perSecond = 0, burst = 0, tokens = 0, time = 0] = numbers(cells[at + 1])
      rows.push({ name, perSecond, burst, tokens, at: time })
    }
  }
  return rows
}
