import { type DriverTransaction, isPromise } from '@sluice/core'
import { transactionPart } from '#parts'
import type { QueueCore } from '../core/queue-core.ts'
import { lateCalls } from '../environment/late.ts'
import type { CheckedOptions } from './options.ts'
import type { QueueTransaction } from './queue-transaction.ts'

const calls = ['add', 'addMany', 'addAfter', 'done', 'doneMany', 'retry'] as const

/** The verbs in a transaction. A page in a browser loads them with the first call. */
export function lateTransaction<T>(
  core: QueueCore,
  options: CheckedOptions<T>,
  verbs: DriverTransaction,
): Pick<QueueTransaction<T>, (typeof calls)[number]> {
  const make = (part: Awaited<ReturnType<typeof transactionPart.get>>): QueueTransaction<T> =>
    new part.QueueTransaction<T>(core, options, verbs)
  const part = transactionPart.get()
  return isPromise(part) ? lateCalls(calls, () => part.then(make)) : make(part)
}
