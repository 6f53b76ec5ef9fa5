// The tables of a store in memory and the verbs on them: what a driver needs from its opening on.
import { transitions } from '@sluice/core/driver'

export { depthOf, historyDepthCap, TokenBuckets } from '@sluice/core/driver'
export { countKeys, listKeys } from './list-keys.ts'
export { MemoryQueue } from './memory-queue.ts'
export { dropTransferRow, importTransferRow } from './transfer.ts'

export const cancel: typeof transitions.cancel = transitions.cancel
export const park: typeof transitions.park = transitions.park
export const remove: typeof transitions.remove = transitions.remove
export const runNow: typeof transitions.runNow = transitions.runNow
export const unpark: typeof transitions.unpark = transitions.unpark
