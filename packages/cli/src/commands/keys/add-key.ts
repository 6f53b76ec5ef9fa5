import { type AddOutcome, SluiceError } from '@sluice/core'
import type { OperatorAsk, StoreInspection } from 'sluice'
import { usageError } from '../../command-error.ts'

/** Adds a key; a key that the library refuses is a usage error that names KEY. */
export async function addKey(
  inspection: StoreInspection,
  queue: string,
  ask: OperatorAsk,
): Promise<AddOutcome> {
  try {
    return await inspection.add(queue, ask)
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_INVALID_INPUT') || !error.message.startsWith('ask.key '))
      throw error
    const says = error.message.replace('ask.key', 'KEY').replace(/ \[ERR_[A-Z_]+\]$/, '')
    throw usageError(`${says}; --item gives the item`, error)
  }
}
