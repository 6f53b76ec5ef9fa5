import { SluiceError } from '@sluice/core'

/** What the holder of a lost key is told. */
export function leaseLost(key: string, why: string): SluiceError {
  return new SluiceError(
    'ERR_LEASE_LOST',
    `the lease of key ${JSON.stringify(key)} is lost: ${why}; stop working on it`,
  )
}
