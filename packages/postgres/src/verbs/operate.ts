import { type Operate, type OperateOutcome, transitions } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { flag, number, text } from '../rows/columns.ts'
import { changeEach } from '../rows/lock-and-change.ts'

/** How many keys one step of a purge removes. */
const purgeStep = 1_000

/** How often a purge comes back for keys that another transaction had locked. */
const purgeRounds = 5

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
