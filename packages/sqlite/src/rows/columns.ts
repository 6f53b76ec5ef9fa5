import { type DueReason, type EpochMs, never } from '@sluice/core/driver'

/** An instant as it is stored: null stands for none. */
export function storedInstant(instant: EpochMs): number | null {
  return instant === never ? null : instant
}

/** A stored instant as a number: null stands for none. */
export function instantOf(stored: number | null): EpochMs {
  return stored ?? never
}

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

/** A reason as it is stored. */
export function storedReason(reason: DueReason): number {
  return reasons.indexOf(reason)
}

/** The reason of a stored number. */
export function reasonOf(stored: number | null): DueReason {
  return reasons[stored ?? 0] ?? 'add'
}
