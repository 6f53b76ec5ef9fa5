import type { EpochMs, Operate, OperateOutcome } from '@sluice/core'
import type { ModelKey, ModelStore } from './model-store.ts'
import type { Rules } from './rules.ts'

/** The verbs of an operator, over the same store and rules. */
export function modelOperate(store: ModelStore, rules: Rules, now: () => EpochMs): Operate {
  function setPaused(name: string, paused: boolean): OperateOutcome {
    const queue = store.queue(name)
    if (queue.paused === paused) return 'unchanged'
    queue.paused = paused
    if (!paused) store.wake(name)
    return 'changed'
  }

  function each(
    queue: string,
    keys: readonly string[],
    verb: (entry: ModelKey) => OperateOutcome,
  ): OperateOutcome[] {
    const outcomes = keys.map((key) => verb(store.key(queue, key)))
    store.sweep(queue, (state) => rules.isGone(state))
    store.wake(queue)
    return outcomes
  }

  return {
    pause: (queue) => setPaused(queue, true),
    resume: (queue) => setPaused(queue, false),
    park: (queue, keys) => each(queue, keys, ({ state }) => rules.park(state)),
    unpark: (queue, keys, { forget }) =>
      each(queue, keys, ({ state }) => rules.unpark(state, forget, now(), store.nextSeq())),
    runNow: (queue, keys) =>
      each(queue, keys, ({ state }) => rules.runNow(state, now(), store.nextSeq())),
    remove: (queue, keys) => each(queue, keys, ({ state }) => rules.remove(state)),
    purge(queue) {
      const all = [...store.queue(queue).keys.keys()]
      return each(queue, all, ({ state }) => rules.remove(state)).filter((o) => o === 'changed')
        .length
    },
  }
}
