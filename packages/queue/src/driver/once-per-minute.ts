import { SluiceError, systemClock } from '@sluice/core'

const minuteMs = 60_000

/** More kinds of error than this share one entry. */
const codesMax = 100

/** The kind of an error: its code, or else its name. */
export function codeOf(error: unknown): string {
  if (SluiceError.is(error)) return error.code
  try {
    if (!(error instanceof Error)) return typeof error
    const { code } = error as { readonly code?: unknown }
    return typeof code === 'string' || typeof code === 'number' ? String(code) : String(error.name)
  } catch {
    // The thrown value may be a proxy that throws when a property is read.
    return typeof error
  }
}

/** Lets an error of each kind pass once a minute of real time. */
export class OncePerMinute {
  readonly #passed = new Map<string, { at: number; heldBack: number }>()

  isNew(error: unknown): boolean {
    return this.pass(codeOf(error)) !== undefined
  }

  /** How many of its kind were held back since the last one; `undefined` if this one is, too. */
  pass(kind: string): number | undefined {
    const now = systemClock.monotonicMs()
    const last = this.#passed.get(kind)
    if (last !== undefined && now - last.at < minuteMs) {
      last.heldBack += 1
      return undefined
    }
    if (this.#passed.size >= codesMax) this.#passed.clear()
    this.#passed.set(kind, { at: now, heldBack: 0 })
    return last?.heldBack ?? 0
  }
}
