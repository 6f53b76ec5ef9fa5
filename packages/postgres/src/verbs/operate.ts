import { type Operate, type OperateOutcome, SluiceError, transitions } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { flag, number, text } from '../rows/columns.ts'
import { changeEach } from '../rows/lock-and-change.ts'

/** How many keys one step of a purge removes. */
const purgeStep = 1_000

/** How often a purge waits for a locked key, 50 ms each time. */
const purgeWaitsMax = 40

async function setPaused(store: Store, queue: string, paused: boolean): Promise<OperateOutcome> {
  const [row] = await store.run('operatePause', [queue, paused])
  return flag(row?.['changed']) ? 'changed' : 'unchanged'
}

/**
 * Clears the held keys, removes those that are free, and then those that were locked, of which most are free
 * again by now. One that another transaction keeps locked for about two seconds stays, and the caller must
 * know. `last` leaves out what is added meanwhile.
 */
async function purge(store: Store, queue: string): Promise<number> {
  let changed = 0
  let last: number | null = null
  for (let waits = 0; ; waits += 1) {
    try {
      let after: string | null | undefined = last === null ? null : ''
      while (after !== undefined) {
        const values: unknown[] = [queue, after, last, purgeStep, waits > 0]
        const [row] = await store.run('operatePurge', values)
        changed += number(row?.['changed'])
        after = text(row?.['next'])
        last = number(row?.['last'])
      }
      if (waits > 0) return changed
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_STORE_BUSY')) throw error
      if (waits < purgeWaitsMax) continue
      const message =
        `the purge has removed ${changed} keys, and has met one that another transaction has locked; ` +
        'repeat it when that has ended'
      throw new SluiceError('ERR_STORE_BUSY', message, { cause: error, retryable: true })
    }
  }
}

/** The verbs of an operator. `wake` is called with a queue in which keys may have become ready. */
export function operate(store: () => Store, wake: (queue: string) => void): Operate {
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
      return await changeEach(store(), queue, keys, ({ state }) => transitions.park(state))
    },
    async unpark(queue, keys, { forget: forgets }) {
      const outcomes = await changeEach(store(), queue, keys, ({ state }, { now, seq }, index) =>
        transitions.unpark(state, forgets, now, seq(index)),
      )
      wake(queue)
      return outcomes
    },
    async runNow(queue, keys) {
      const outcomes = await changeEach(store(), queue, keys, ({ state }, { now, seq }, index) =>
        transitions.runNow(state, now, seq(index)),
      )
      wake(queue)
      return outcomes
    },
    async remove(queue, keys) {
      return await changeEach(store(), queue, keys, ({ state }) => transitions.remove(state))
    },
    async purge(queue) {
      return await purge(store(), queue)
    },
  }
}
