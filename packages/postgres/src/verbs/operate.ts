import {
  type CancelOutcome,
  type ForgetOutcome,
  type Operate,
  type OperateOutcome,
  transitions,
} from '@sluice/core'
import type { Store } from '../connection/store.ts'
import { flag, number, text } from '../rows/columns.ts'
import type { StoredKey } from '../rows/key-row.ts'
import { type LockedKeys, lockAndChange } from '../rows/lock-and-change.ts'

/** How many keys one step of a purge removes. */
const purgeStep = 1_000

/** How often a purge comes back for keys that somebody had locked. */
const purgeRounds = 5

/** One verb for each key of a batch, which is one step: a locked key is a failure of all. */
async function each<T>(
  store: Store,
  queue: string,
  keys: readonly string[],
  verb: (entry: StoredKey, locked: LockedKeys, place: number) => T,
): Promise<T[]> {
  return await store.transaction((connection) =>
    lockAndChange(connection, store.statements, {
      queue,
      keys,
      creates: false,
      time: store.time,
      change: (locked) => keys.map((key, place) => verb(locked.key(key), locked, place)),
    }),
  )
}

/** The verb cancel. */
export async function cancel(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<CancelOutcome[]> {
  return await each(store, queue, keys, ({ state }) => transitions.cancel(state))
}

/** The verb forget. */
export async function forget(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<ForgetOutcome[]> {
  return await each(store, queue, keys, ({ state }) => transitions.forget(state))
}

async function setPaused(store: Store, queue: string, paused: boolean): Promise<OperateOutcome> {
  const [row] = await store.run('operatePause', [queue, paused])
  return flag(row?.['changed']) ? 'changed' : 'unchanged'
}

async function purge(store: Store, queue: string): Promise<number> {
  let changed = 0
  for (let round = 0; round < purgeRounds; round += 1) {
    const before = changed
    let after: string | undefined = ''
    while (after !== undefined) {
      const [row] = await store.run('operatePurge', [queue, after, purgeStep])
      changed += number(row?.['changed'])
      after = text(row?.['next'])
    }
    if (changed === before) break
  }
  return changed
}

/** The verbs of an operator. `wake` is told of queues in which something may have become ready. */
export function operateOn(store: () => Store, wake: (queue: string) => void): Operate {
  return {
    async pause(queue) {
      return await setPaused(store(), queue, true)
    },
    async resume(queue) {
      const outcome = await setPaused(store(), queue, false)
      wake(queue)
      return outcome
    },
    async park(queue, keys) {
      return await each(store(), queue, keys, ({ state }) => transitions.park(state))
    },
    async unpark(queue, keys, { forget: forgets }) {
      const outcomes = await each(store(), queue, keys, ({ state }, { now, seq }, place) =>
        transitions.unpark(state, forgets, now, seq(place)),
      )
      wake(queue)
      return outcomes
    },
    async runNow(queue, keys) {
      const outcomes = await each(store(), queue, keys, ({ state }, { now, seq }, place) =>
        transitions.runNow(state, now, seq(place)),
      )
      wake(queue)
      return outcomes
    },
    async remove(queue, keys) {
      return await each(store(), queue, keys, ({ state }) => transitions.remove(state))
    },
    async purge(queue) {
      return await purge(store(), queue)
    },
  }
}
