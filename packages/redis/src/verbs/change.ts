import {
  type CancelOutcome,
  type ForgetOutcome,
  type Operate,
  type OperateOutcome,
  SluiceError,
} from '@sluice/core/driver'
import { instant, number } from '../rows/columns.ts'
import { type Store, verbStart, type Written, writtenOf } from '../store.ts'

/** The most held keys that one script keeps while it removes all others; the server does nothing else meanwhile. */
const purgeHeldMax = 2_000

/** How many keys one script of a larger purge removes. */
const removeStep = 500

type Change = 'cancel' | 'forget' | 'park' | 'unpark' | 'unpark-forget' | 'run-now' | 'remove'

const outcomes: readonly OperateOutcome[] = ['unchanged', 'changed', 'missing']

/** Called with the keys that were cancelled or removed; with undefined if all were. */
export type Discard = (queue: string, keys: readonly string[] | undefined, when: Written) => void

async function change(
  store: Store,
  verb: Change,
  queue: string,
  keys: readonly string[],
  discard?: Discard,
  last = Infinity,
): Promise<readonly OperateOutcome[]> {
  const args = [verb, String(keys.length), ...keys, instant(last)]
  const reply = await store.run('change', queue, args)
  const written = writtenOf(reply)
  discard?.(queue, keys, { ...written, lastSeq: Math.min(written.lastSeq, last) })
  return keys.map((_, index) => outcomes[number(reply[verbStart + index])] ?? 'unchanged')
}

/** Removes the pending runs of keys. */
export async function cancel(
  store: Store,
  queue: string,
  keys: readonly string[],
  discard: Discard,
): Promise<readonly CancelOutcome[]> {
  const changed = await change(store, 'cancel', queue, keys, discard)
  return changed.map((outcome) => (outcome === 'changed' ? 'cancelled' : 'unchanged'))
}

/** Sets failures and crashes to zero. */
export async function forget(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<readonly ForgetOutcome[]> {
  const changed = await change(store, 'forget', queue, keys)
  return changed.map((outcome) => (outcome === 'changed' ? 'forgotten' : 'unchanged'))
}

/** Removes every key of a queue; returns how many, or -1 if more keys than `heldMax` are held. */
async function purgeAtOnce(
  store: Store,
  queue: string,
  discard: Discard,
  heldMax: number,
): Promise<readonly [cleared: number, last: number]> {
  const reply = await store.run('purge', queue, [instant(heldMax)])
  const [cleared, written] = [number(reply[verbStart]), writtenOf(reply)]
  if (cleared >= 0) discard(queue, undefined, written)
  return [cleared, written.lastSeq]
}

/**
 * Removes the keys that a queue has up to a position in the order, a script's worth at a time; returns how
 * many. Held keys are cleared first, before their holders give them back.
 */
async function removeAll(
  store: Store,
  queue: string,
  discard: Discard,
  last: number,
): Promise<number> {
  const { keys, held } = store.layout.of(queue)
  let cleared = 0
  const remove = async (names: readonly string[]): Promise<void> => {
    const outcomes = await change(store, 'remove', queue, names, discard, last)
    cleared += outcomes.filter((outcome) => outcome === 'changed').length
  }
  const all = (await store.readOf(queue, held, ['ZRANGE', held, '0', '-1'])) as readonly string[]
  const names = all.filter((name) => name !== '')
  for (let from = 0; from < names.length; from += removeStep)
    await remove(names.slice(from, from + removeStep))
  for (let cursor = ''; ; ) {
    const next = ['ZRANGEBYLEX', keys, `(${cursor}`, '+', 'LIMIT', '0', String(removeStep)]
    const some = (await store.readOf(queue, keys, next)) as readonly string[]
    if (some.length === 0) return cleared
    await remove(some)
    cursor = some.at(-1)!
  }
}

/** The verbs of an operator. */
export function operate(
  store: () => Store,
  wake: (queue: string) => void,
  discard: Discard,
): Operate {
  const pause = async (queue: string, mark: '0' | '1'): Promise<OperateOutcome> => {
    const reply = await store().run('pause', queue, [mark])
    wake(queue)
    return reply[verbStart] === 1 ? 'changed' : 'unchanged'
  }
  const changeAndWake = async (
    verb: Change,
    queue: string,
    keys: readonly string[],
  ): Promise<readonly OperateOutcome[]> => {
    const outcomes = await change(store(), verb, queue, keys)
    if (outcomes.includes('changed')) wake(queue)
    return outcomes
  }
  return {
    pause: (queue) => pause(queue, '1'),
    resume: (queue) => pause(queue, '0'),
    park: (queue, keys) => change(store(), 'park', queue, keys),
    unpark: (queue, keys, { forget: forgets }) =>
      changeAndWake(forgets ? 'unpark-forget' : 'unpark', queue, keys),
    runNow: (queue, keys) => changeAndWake('run-now', queue, keys),
    remove: (queue, keys) => change(store(), 'remove', queue, keys, discard),
    async purge(queue) {
      const [cleared, last] = await purgeAtOnce(store(), queue, discard, purgeHeldMax)
      if (cleared >= 0) return cleared
      return await removeAll(store(), queue, discard, last).catch(async (error: unknown) => {
        if (!SluiceError.is(error, 'ERR_STORE_DAMAGED')) throw error
        const [all] = await purgeAtOnce(store(), queue, discard, Infinity)
        return all
      })
    },
  }
}
