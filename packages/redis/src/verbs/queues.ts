import { SluiceError } from '@sluice/core'
import { type BucketRow, type WorkerInfo, type WorkerRow, workerMsMax } from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { number, numbers } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** The names of all queues that have keys, are paused, or have a worker on record. */
export async function queues(store: Store): Promise<readonly string[]> {
  const unused = await store.unusedQueues()
  const all = await store.ofEachQueue(async (name) => {
    const found = await isThere(store, name)
    // A queue that cannot be deleted now is deleted by a later list.
    if (!found && unused.has(name)) await store.forgetQueue(name).catch(() => {})
    return found
  })
  return all.flatMap(([name, found]) => (found ? [name] : []))
}

async function isThere(store: Store, name: string): Promise<boolean> {
  try {
    const reply = await store.run('overview', name, [String(workerMsMax)])
    return reply[verbStart] === 1
  } catch (error) {
    // A queue that cannot be read costs the others nothing.
    if (SluiceError.is(error, 'ERR_SCHEMA_NEWER')) return true
    if (SluiceError.is(error, 'ERR_STORE_DAMAGED')) return true
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

/**
 * Whether a queue is one of {@link queues}, how many of its leases expired more than a minute ago, and the
 * workers seen within `withinMs`.
 */
export async function liveliness(
  store: Store,
  queue: string,
  withinMs: number,
): Promise<{
  readonly isThere: boolean
  readonly late: number
  readonly workers: readonly WorkerRow[]
}> {
  const reply = await store.run('overview', queue, [String(withinMs)])
  const isThere = reply[verbStart] === 1
  return { isThere, late: number(reply[verbStart + 1]), workers: workersOf(reply) }
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
  const read = (queue: string): Promise<Reply> => {
    const { buckets: key } = store.layout.of(queue)
    return store.read(key, ['HGETALL', key])
  }
  const all = store.layout.isShared
    ? [['', await read('')] as const]
    : await store.ofEachQueue(read)
  const rows: BucketRow[] = []
  for (const [, reply] of all) {
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
