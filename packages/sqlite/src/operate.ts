import type { Awaitable, Operate } from '@sluice/core'
import type { QueueTransaction } from './rows/queue-transaction.ts'
import {
  parkVerb,
  pauseVerb,
  purgeVerb,
  removeVerb,
  runNowVerb,
  unparkVerb,
} from './verbs/operate.ts'

/** Does something to a queue in a transaction of its own. */
export type Change = <T>(queue: string, work: (tx: QueueTransaction) => T) => Awaitable<T>

/** The verbs of an operator. */
export function sqliteOperate(change: Change): Operate {
  return {
    pause: (queue) => change(queue, (tx) => pauseVerb(tx, true)),
    resume: (queue) => change(queue, (tx) => pauseVerb(tx, false)),
    park: (queue, keys) => change(queue, (tx) => parkVerb(tx, keys)),
    unpark: (queue, keys, { forget }) => change(queue, (tx) => unparkVerb(tx, keys, forget)),
    runNow: (queue, keys) => change(queue, (tx) => runNowVerb(tx, keys)),
    remove: (queue, keys) => change(queue, (tx) => removeVerb(tx, keys)),
    purge: (queue) => change(queue, (tx) => purgeVerb(tx)),
  }
}
