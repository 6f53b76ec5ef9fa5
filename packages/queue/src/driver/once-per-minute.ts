import { SluiceError, systemClock } from '@sluice/core'

const minuteMs = 60_000

/** More kinds of error than this share one entry. */
const codesMax = 100

function codeOf(error: unknown): string {
  if (SluiceError.is(error)) return error.code
  try {
    return error instanceof Error ? String(error.name) : typeof error
  } catch {
    // The thrown value may be a proxy that throws when a property is read.
    return typeof error
  }
}

/** Lets an error of each code pass once a minute of real time. */
export class OncePerMinute {
  readonly #toldAt = new Map<string, number>()

  isNew(error: unknown): boolean {
    const code = codeOf(error)
    const now = systemClock.monotonicMs()
    const toldAt = this.#toldAt.get(code)
    if (toldAt !== undefined && now - toldAt < minuteMs) return false
    if (this.#toldAt.size >= codesMax) this.#toldAt.clear()
    this.#toldAt.set(code, now)
    return true
  }
}
