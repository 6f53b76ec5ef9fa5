import type { EpochMs } from '@sluice/core'

/** Swedes write dates as everybody can read them. */
const format = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'UTC',
  dateStyle: 'short',
  timeStyle: 'medium',
})

/** What a date can be at the most, in milliseconds. */
const latest = 8.64e15

/** An instant as `2026-11-21 12:44:03Z`. */
export function formatInstant(at: EpochMs): string {
  return Math.abs(at) > latest ? String(at) : `${format.format(at)}Z`
}
