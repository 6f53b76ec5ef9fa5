/** A number in [0, 1), by chance. The one source of chance in this package. */
export function random(): number {
  return Math.random()
}
