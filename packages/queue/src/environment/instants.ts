/**
 * By how much two instants may differ and count as one, in milliseconds.
 *
 * Instants are doubles, and sums of them are rounded: by up to half a millisecond where they are
 * greatest, and timers fire that much early. Whoever is told that it is time, and is not content
 * with half a millisecond less, would set a timer for what is left, which may be nothing to a clock.
 */
export const instantSlackMs = 0.5
