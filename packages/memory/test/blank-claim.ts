import type { DirectClaim } from '@sluice/core'

/** A claim for a direct queue to fill in. */
export function blankClaim(): DirectClaim {
  return {
    key: '',
    itemText: undefined,
    token: 0,
    handle: 0,
    failures: 0,
    crashes: 0,
    priority: 0,
    askedAt: 0,
  }
}
