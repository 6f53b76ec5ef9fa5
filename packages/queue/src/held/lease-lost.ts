import { SluiceError } from '@sluice/core'

/** The error that the holder of a lost key gets. */
export function leaseLost(key: string, why: string): SluiceError {
  return new SluiceError(
    'ERR_LEASE_LOST',
    `the lease of key ${JSON.stringify(key)} is lost: ${why}; stop working on it`,
  )
}
