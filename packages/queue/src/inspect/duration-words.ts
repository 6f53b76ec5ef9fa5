/** The units from the largest down, each with how many milliseconds it has. */
const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** A duration as people say it, with the two largest units that it has: `2 h 5 min`. */
export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const at = units.findIndex(([, unitMs]) => ms >= unitMs)
  const [large, largeMs] = units[at] ?? units[0]
  const [small, smallMs] = units[at + 1] ?? units[3]
  const count = Math.floor(ms / largeMs)
  const rest = Math.floor((ms - count * largeMs) / smallMs)
  return rest === 0 ? `${count} ${large}` : `${count} ${large} ${rest} ${small}`
}
