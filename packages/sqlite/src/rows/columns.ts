import { type DueReason, type EpochMs, never } from '@sluice/core/driver'

/** An instant as it is stored: none is null. */
export function storedInstant(instant: EpochMs): number | null {
  return instant === never ? null : instant
}

/** An instant as it is worked with: null is none. */
export function instantOf(stored: number | null): EpochMs {
  return stored ?? never
}

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

/** A reason as it is stored. */
export function storedReason(reason: DueReason): number {
  return reasons.indexOf(reason)
}

/** A reason as it is worked with. */
export function reasonOf(stored: number | null): DueReason {
  return reasons[stored ?? 0] ?? 'add'
}
