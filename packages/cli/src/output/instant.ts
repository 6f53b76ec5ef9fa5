import type { EpochMs } from '@sluice/core'

/** The Swedish format is ISO 8601. */
const format = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'UTC',
  dateStyle: 'short',
  timeStyle: 'medium',
})

/** The latest date, in milliseconds. */
const latest = 8.64e15

/** An instant as `2026-11-21 12:44:03Z`. */
export function formatInstant(at: EpochMs): string {
  return Math.abs(at) > latest ? String(at) : `${format.format(at)}Z`
}
