import { delayMsMax } from '@sluice/core'

/** A delay that replaces the limiter's, whose plan the store then must not follow. */
interface OwnDelay {
  readonly delayMs: number
  readonly plan: undefined
}

/**
 * The delay that an error carries as `retryAfterMs`; anything but a number above zero is none. The error
 * may be any value, or a proxy.
 */
export function retryAfter(error: unknown): OwnDelay | undefined {
  try {
    const { retryAfterMs: ms } = error as { readonly retryAfterMs: unknown }
    if (typeof ms === 'number' && ms > 0) {
      return { delayMs: Math.min(ms, delayMsMax), plan: undefined }
    }
  } catch {
    // It has none that can be read.
  }
  return undefined
}
